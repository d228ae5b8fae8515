"""Tools that remember in rows of one SQLite file, or of its export as JSON: a table for each.

Their schemas change often: columns are read by name, those that are there.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from memfs.core import yaml_edit
from memfs.core.privacy import storable
from memfs.core.records import Identity, Message
from memfs.files import database, outside
from memfs.hosts.jsonl import text_of
from memfs.importers.readers import json_files
from memfs.importers.readers.field_values import (
    Fields,
    format_items,
    get_text,
    get_time,
    join_sections,
    list_objects,
    parse_list,
    parse_object,
)
from memfs.importers.readers.items import (
    AnyItem,
    Importer,
    OmittedItem,
    ToolBlock,
    ToolText,
    UnreadItem,
    group_sessions,
)

_QUOTED = 80  # characters of a memory that another one is related to
_CHARACTERS = 4  # of a token, about

_Rows = Callable[[str], Iterator[Fields]]


@dataclass(frozen=True)
class RowTool:
    """The importer of one of these tools, by its name (see `items.Importer`).

    `file` is the name of its database, `list_places` where that may be. A database is known by the
    tables and columns of one of its `schemas`, an export by the `words` at its beginning. `tables`
    are those that are read, and their columns, in the order of the first of them; `lists` are the
    names that they have in an export. `make_items` makes items of the rows of a table.
    """

    name: str
    file: str
    list_places: Callable[[str, Mapping[str, str]], list[str]]
    schemas: tuple[Mapping[str, set[str]], ...]
    tables: Mapping[str, tuple[str, ...]]
    make_items: Callable[[_Rows], Iterator[AnyItem]]
    words: tuple[str, ...] = ()
    lists: Mapping[str, str] = field(default_factory=dict)

    @property
    def importer(self) -> Importer:
        return Importer(self.name, self._sniff, self._read, self._find)

    def _find(self, home: str, environment: Mapping[str, str]) -> list[str]:
        found = dict.fromkeys(self.list_places(home, environment))
        return [path for path in found if outside.status(path)]

    def _sniff(self, path: str) -> bool:
        path = outside.find_inside(path, self.file)
        if database.is_database(path):
            return has_tables(path, *self.schemas)
        head = json_files.read_head(path) if self.words else ""
        return head.startswith("{") and all(word in head for word in self.words)

    def _read(self, path: str) -> Iterator[AnyItem]:
        path = outside.find_inside(path, self.file)
        if not database.is_database(path):
            found = parse_object(json_files.load(path))
            yield from self.make_items(
                lambda table: iter(list_objects(found, self.lists.get(table, table)))
            )
            return
        with database.open_database(path) as base:

            def read_rows(table: str) -> Iterator[Fields]:
                columns = self.tables[table]
                return (row.values for row in base.read_rows(table, columns, columns[0]))

            yield from self.make_items(read_rows)


def has_tables(path: str, *schemas: Mapping[str, set[str]]) -> bool:
    """Tell whether a database has all tables and columns of one of these schemas. Never raises."""
    try:
        with database.open_database(path) as base:
            there = set(base.list_tables())
            return any(
                there >= schema.keys()
                and all(names <= {*base.list_columns(table)} for table, names in schema.items())
                for schema in schemas
            )
    except OSError:
        return False


def _list_claude_mem(home: str, environment: Mapping[str, str]) -> list[str]:
    folder = environment.get("CLAUDE_MEM_DATA_DIR") or f"{home}/.claude-mem"
    settings = json_files.read_object(f"{folder}/settings.json")
    moved = text_of(settings.get("CLAUDE_MEM_DATA_DIR"))
    return [f"{each}/claude-mem.db" for each in (moved, folder) if each]


_SUMMARY = ("request", "investigated", "learned", "completed", "next_steps", "notes")
_NAMES = ("content_session_id", "claude_session_id")  # what its assistant calls a session
_DATES = ("created_at_epoch", "created_at")
_OWNERS = ("merged_into_project", "project")
_OBSERVATION = (
    "id", *_OWNERS, "type", "title", "subtitle", "narrative", "text", "facts", "concepts",
    "files_read", "files_modified", *_DATES,
)  # fmt: skip


def _make_claude_mem(rows: _Rows) -> Iterator[AnyItem]:
    yield from map(_make_observation, rows("observations"))
    yield from map(_make_summary, rows("session_summaries"))
    listed = (
        row for row in rows("sessions") if get_text(row, *_SUMMARY)
    )  # an export's, of any kind
    yield from map(_make_summary, listed)
    sessions = {row.get("id"): row for row in rows("sdk_sessions")}
    yield from group_sessions(_list_prompts(sessions, rows("user_prompts")), "session", "claude")
    roots = {row.get("id"): row.get("root_path") for row in rows("projects")}
    for row in rows("memory_items"):
        yield _make_observation({**row, "project": roots.get(row.get("project_id"))})


def _make_observation(row: Fields) -> AnyItem:
    ident, title = f"observation {row.get('id')}", get_text(row, "title")
    facts = format_items(parse_list(row.get("facts")))
    body = join_sections(get_text(row, "subtitle"), get_text(row, "narrative", "text"), facts)
    if not body and not title:
        return UnreadItem(ident, "it has no text")
    files = [*parse_list(row.get("files_read")), *parse_list(row.get("files_modified"))]
    about = f"Files: {', '.join(dict.fromkeys(files))}" if files else ""
    text = join_sections(f"# {title}" if title else "", body, about)
    noun, at = get_text(row, "kind") or "observation", get_time(row, *_DATES)
    tags = tuple(filter(None, [get_text(row, "type"), *parse_list(row.get("concepts"))]))
    return ToolText(ident, noun, text, at, tags, project=get_text(row, *_OWNERS))


def _make_summary(row: Fields) -> AnyItem:
    parts = [
        f"{name.replace('_', ' ').capitalize()}: {text}"
        for name in _SUMMARY
        if (text := get_text(row, name))
    ]
    ident = f"summary {row.get('id')}"
    if not parts:
        return UnreadItem(ident, "it has no text")
    at, tags = get_time(row, *_DATES), ("session-summary",)
    project = get_text(row, *_OWNERS)
    return ToolText(ident, "summary", join_sections(*parts), at, tags, project=project)


def _list_prompts(
    sessions: Mapping[object, Fields], prompts: Iterable[Fields]
) -> Iterator[Message]:
    for row in prompts:
        owner = sessions.get(row.get("session_db_id"), row)
        name = get_text(row, *_NAMES) or get_text(owner, *_NAMES)
        if name and get_text(row, "prompt_text"):
            identity = Identity(name, "", get_text(owner, "project"))
            ident = f"{name}:{row.get('prompt_number') or row.get('id')}"
            at, text = get_time(row, *_DATES), get_text(row, "prompt_text")
            yield identity.make_message("claude-mem", ident, at, "user", text)


CLAUDE_MEM = RowTool(
    name="claude-mem",
    file="claude-mem.db",
    list_places=_list_claude_mem,
    schemas=(
        {"observations": set(), "session_summaries": set(), "sdk_sessions": set()},
        {"memory_items": set(), "projects": set()},
    ),
    words=('"observations"', '"memory_session_id"'),
    lists={"session_summaries": "summaries", "user_prompts": "prompts"},
    tables={
        "observations": _OBSERVATION,
        "session_summaries": ("id", *_OWNERS, *_DATES, *_SUMMARY),
        "sessions": ("id",),
        "sdk_sessions": ("id", *_NAMES, "project"),
        "user_prompts": (
            "id", "session_db_id", *_NAMES, "prompt_number", "prompt_text", *_DATES, "project",
        ),
        "projects": ("id", "root_path"),
        "memory_items": (*_OBSERVATION, "kind", "project_id"),
    },
    make_items=_make_claude_mem,
).importer  # fmt: skip


def _make_engram(rows: _Rows) -> Iterator[AnyItem]:
    sessions = list(rows("sessions"))
    projects = {text_of(row.get("id")): get_text(row, "directory", "project") for row in sessions}
    for row in rows("observations"):
        title, content = get_text(row, "title"), get_text(row, "content")
        if row.get("deleted_at"):
            yield OmittedItem("observation", "deleted in its tool")
        elif not title and not content:
            yield UnreadItem(f"observation {row.get('id')}", "it has no text")
        else:
            text = join_sections(f"# {title}" if title else "", content)
            at = get_time(row, "updated_at", "created_at")
            tags = (get_text(row, "type"), get_text(row, "topic_key"))
            project = get_text(row, "project") or projects.get(get_text(row, "session_id"), "")
            private = get_text(row, "scope") == "personal"
            ident, noun = f"observation {row.get('id')}", "observation"
            yield ToolText(ident, noun, text, at, tags, project=project, private=private)
    for row in sessions:
        if summary := get_text(row, "summary"):
            ident, at = f"session {get_text(row, 'id')}", get_time(row, "ended_at", "started_at")
            project = get_text(row, "directory", "project")
            yield ToolText(ident, "summary", summary, at, ("session-summary",), project=project)
    said = []
    for row in rows("user_prompts"):
        name, text = get_text(row, "session_id"), get_text(row, "content")
        if name and text:
            identity = Identity(name, "", projects.get(name) or get_text(row, "project"))
            ident, at = f"{name}:{row.get('id')}", get_time(row, "created_at")
            said.append(identity.make_message("engram", ident, at, "user", text))
    yield from group_sessions(said, "session", "claude")


ENGRAM = RowTool(
    name="engram",
    file="engram.db",
    list_places=lambda home, environment: [
        f"{environment.get('ENGRAM_DATA_DIR') or f'{home}/.engram'}/engram.db"
    ],
    schemas=({"observations": {"session_id", "title", "content"}},),
    words=('"version"', '"exported_at"', '"sessions"'),
    lists={"user_prompts": "prompts"},
    tables={
        "sessions": ("id", "project", "directory", "started_at", "ended_at", "summary"),
        "observations": (
            "id", "session_id", "type", "title", "content", "project", "scope", "topic_key",
            "created_at", "updated_at", "deleted_at",
        ),
        "user_prompts": ("id", "session_id", "content", "project", "created_at"),
    },
    make_items=_make_engram,
).importer  # fmt: skip


def _list_mcp_memory(home: str, environment: Mapping[str, str]) -> list[str]:
    named = ("MCP_MEMORY_SQLITE_PATH", "MCP_MEMORY_SQLITEVEC_PATH")
    folders = (
        environment.get("MCP_MEMORY_BASE_DIR", ""),
        f"{home}/.local/share/mcp-memory",
        f"{home}/Library/Application Support/mcp-memory",
    )
    files = [f"{folder}/sqlite_vec.db" for folder in folders if folder]
    return [*filter(None, map(environment.get, named)), *files]


def _make_mcp_memory(rows: _Rows) -> Iterator[AnyItem]:
    for row in rows("memories"):
        ident = get_text(row, "content_hash")[:16] or f"memory {row.get('id')}"
        text = text_of(row.get("content"))
        if row.get("deleted_at"):
            yield OmittedItem("memory", "deleted in its tool")
        elif not text.strip():
            yield UnreadItem(ident, "it has no text")
        else:
            words = (word for each in parse_list(row.get("tags")) for word in each.split(","))
            tags = (get_text(row, "memory_type"), *words)
            yield ToolText(
                ident, "memory", text, get_time(row, "created_at", "created_at_iso"), tags
            )


MCP_MEMORY_SERVICE = RowTool(
    name="mcp-memory-service",
    file="sqlite_vec.db",
    list_places=_list_mcp_memory,
    schemas=({"memories": {"content_hash", "content"}},),
    tables={
        "memories": (
            "id", "content_hash", "content", "tags", "memory_type", "created_at", "created_at_iso",
            "deleted_at",
        )
    },
    make_items=_make_mcp_memory,
).importer  # fmt: skip


def _list_mycelicmemory(home: str, environment: Mapping[str, str]) -> list[str]:  # noqa: ARG001 - it reads none
    top = f"{home}/.mycelicmemory"
    settings, _ = yaml_edit.read(json_files.read_head(f"{top}/config.yaml", 1 << 14))
    moved = text_of(parse_object(settings.get("database")).get("path"))
    moved = moved.replace("~", home, 1) if moved.startswith("~/") else moved
    others = [f"{top}/databases/{name}" for name in outside.list_names(f"{top}/databases")]
    return [moved, f"{top}/memories.db", *(each for each in others if each.endswith(".db"))]


def _make_mycelicmemory(rows: _Rows) -> Iterator[AnyItem]:
    conversations = {  # before schema 5 their table had another name
        get_text(row, "id"): row
        for table in ("conversations", "cc_sessions")
        for row in rows(table)
    }
    memories = [
        row for row in rows("memories") if not row.get("chunk_level")
    ]  # others repeat parts
    titles = {get_text(row, "id"): _quote_start(text_of(row.get("content"))) for row in memories}
    relations: dict[str, list[tuple[str, str]]] = {}
    for row in rows("memory_relationships"):
        kind = get_text(row, "relationship_type") or "related to"
        target, why = titles.get(get_text(row, "target_memory_id"), ""), get_text(row, "context")
        if target:
            line = f"{kind} → {target}" + (f" ({why})" if why else "")
            relations.setdefault(get_text(row, "source_memory_id"), []).append((kind, line))
    for row in memories:
        owner = conversations.get(get_text(row, "conversation_id"), {})
        related = relations.get(get_text(row, "id"), [])
        yield _make_memory(row, related, get_text(owner, "project_path"))
    yield from _make_blocks(rows("memory_blocks"))
    said = (row for table in ("messages", "cc_messages") for row in rows(table))
    yield from group_sessions(_list_said(said, conversations), "conversation", "claude")


def _quote_start(content: str) -> str:
    """Return the beginning of a text on one line; a secret in it goes before the cut."""
    whole = " ".join(storable(content).split())
    return whole if len(whole) <= _QUOTED else whole[: _QUOTED - 1].rstrip() + "…"


def _make_memory(row: Fields, relations: list[tuple[str, str]], project: str) -> AnyItem:
    ident = get_text(row, "id") or f"row of {get_text(row, 'created_at')}"
    text, importance = text_of(row.get("content")), row.get("importance")
    if not text.strip():
        return UnreadItem(f"memory {ident}", "it has no text")
    marks = ["contradicts"] if any(kind == "contradicts" for kind, _ in relations) else []
    text = join_sections(text, format_items([line for _, line in relations]))
    at, importance = get_time(row, "created_at"), importance if isinstance(importance, int) else 5
    tags = (get_text(row, "domain"), *parse_list(row.get("tags")), *marks)
    return ToolText(ident, "memory", text, at, tags, importance, project)


def _make_blocks(rows: Iterable[Fields]) -> Iterator[ToolBlock]:
    latest: dict[str, tuple[int, Fields]] = {}
    for row in rows:
        label, number = get_text(row, "label", "block_type"), row.get("version")
        version = number if isinstance(number, int) else 0
        known = latest.get(label, (version, row))[0]
        if label and get_text(row, "content") and version >= known:
            latest[label] = version, row
    for label, (_, row) in latest.items():
        most = row.get("max_tokens")
        limit = most * _CHARACTERS if isinstance(most, int) and 0 < most < 1 << 30 else 0
        text, about = text_of(row.get("content")), get_text(row, "description")
        private = get_text(row, "block_type") == "human"
        yield ToolBlock(label, "block", text, about, limit, private=private)


def _list_said(rows: Iterable[Fields], conversations: Mapping[str, Fields]) -> Iterator[Message]:
    counts: Counter[str] = Counter()
    for row in rows:
        conversation = conversations.get(get_text(row, "session_id"), {})
        role, text = get_text(row, "role"), text_of(row.get("content"))
        if conversation and role in ("user", "assistant", "tool") and text.strip():
            name = get_text(conversation, "session_id", "id")
            ident = get_text(row, "id") or f"{name}:{counts[name]}"
            counts[name] += 1
            at = get_time(row, "timestamp")
            identity = Identity(name, "", get_text(conversation, "project_path"))
            yield identity.make_message("mycelicmemory", ident, at, role, text)


MYCELICMEMORY = RowTool(
    name="mycelicmemory",
    file="memories.db",
    list_places=_list_mycelicmemory,
    schemas=({"memories": {"importance", "domain"}, "memory_relationships": set()},),
    tables={
        "memories": (
            "created_at", "id", "content", "importance", "tags", "domain", "chunk_level",
            "conversation_id",
        ),
        "memory_relationships": (
            "created_at", "source_memory_id", "target_memory_id", "relationship_type", "context",
        ),
        **dict.fromkeys(
            ("conversations", "cc_sessions"), ("created_at", "id", "session_id", "project_path")
        ),
        **dict.fromkeys(
            ("messages", "cc_messages"),
            ("sequence_index", "id", "session_id", "role", "content", "timestamp"),
        ),
        "memory_blocks": (
            "id", "block_type", "label", "content", "max_tokens", "version", "description",
        ),
    },
    make_items=_make_mycelicmemory,
).importer  # fmt: skip
