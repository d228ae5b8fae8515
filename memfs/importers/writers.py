"""Memory in the formats of other tools."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from memfs.core import frontmatter, headings, yaml_edit
from memfs.core.block import MANAGED, Block
from memfs.core.errors import UsageError
from memfs.core.privacy import storable
from memfs.core.records import Message, Passage
from memfs.store import archive, blocks, clock, store_paths

CONVERSATION = "conversation"  # the type of a note that is a session
BLOCK, PASSAGE = "block", "passage"  # types of notes of basic-memory
NOTE_KEYS = ("title", "type", "permalink", "label", "created")  # which basic-memory has in each
BLOCK_ENTITY, PASSAGE_ENTITY = "memory block", "memory passage"  # types of entities
KEPT_KEYS = "front matter"  # an observation of an entity with the other keys, as JSON
FRONT_MATTER = "front_matter"  # what has no field of its own, in the metadata of Letta
_TITLE = 60  # characters
_IN_BLOCK = ("description", "limit", "read_only", "tags")
_IN_PASSAGE = ("created_at", "importance", "tags", "source")
_AGENT_LISTS = (
    "memory_blocks", "tools", "tool_ids", "source_ids", "tool_rules", "tags", "messages",
    "in_context_message_ids", "files_agents", "group_ids",
)  # fmt: skip
_FILE_LISTS = ("groups", "files", "sources", "tools", "mcp_servers", "skills")


@dataclass(frozen=True)
class MemoryContents:
    """The memory of one store. `passages` are also facts and static entries.

    `heads` are the front matter of passages, by their ids; `sessions` are messages by (host,
    session).
    """

    name: str
    blocks: tuple[Block, ...]
    passages: tuple[Passage, ...]
    sessions: Mapping[tuple[str, str], tuple[Message, ...]]
    heads: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Exporter:
    """Makes the files that one tool reads: the bytes of each, by its name in the folder.

    A tool without a `folder` has one file, whose name is "", and no place for sessions; the name of
    another file is what follows the first one's stem. Keys of front matter that are among `keys` it
    writes itself: others' have no place.
    """

    make_files: Callable[[MemoryContents], dict[str, bytes]]
    folder: bool = False
    keys: tuple[str, ...] = ()


def get(name: str) -> Exporter:
    """Return the exporter of a format by its name. Raises `UsageError` for an unknown one."""
    if name not in EXPORTERS:
        raise UsageError(f"unknown format '{name}'", f"known formats: {', '.join(EXPORTERS)}")
    return EXPORTERS[name]


def make_title(passage: Passage) -> str:
    """Return what a passage is about, on one line: its first heading, or its beginning."""
    text = storable(passage.text)  # a part of a secret would not be found
    first = headings.find_heading(text) or next(filter(str.strip, text.split("\n")), "")
    line = " ".join(first.strip("#*->` \t").split())
    return (line if len(line) <= _TITLE else line[: _TITLE - 1].rstrip() + "…") or passage.id


def make_name(passage: Passage) -> str:
    """Return a name for the file of a passage: words of its title, and a hash that no other has."""
    title = unicodedata.normalize("NFKD", make_title(passage)).encode("ascii", "ignore").decode()
    slug = re.sub("[^a-z0-9]+", "-", title.lower()).strip("-")
    whole = f"{passage.id}\0{passage.text}".encode("utf-8", "replace")
    return "-".join(filter(None, (slug, hashlib.sha256(whole).hexdigest()[:12])))


def _get_date(passage: Passage) -> str | None:
    return passage.created_at if passage.created_at not in ("", archive.UNKNOWN) else None


def _list_other_keys(head: str, known: tuple[str, ...]) -> dict[str, object]:
    found = blocks.front_matter(head)
    return {key: value for key, value in found.items() if key not in (*MANAGED, *known)}


def write_basic_memory(memory: MemoryContents) -> dict[str, bytes]:
    """Make notes; what stands in the texts as observations and relations is read as such."""
    made: dict[str, bytes] = {}
    for block in memory.blocks:
        made[f"blocks/{block.label}.md"] = _write_note(
            {
                "title": block.label,
                "type": BLOCK,
                "permalink": f"blocks/{block.label}",
                "tags": block.tags,
                "label": block.label,
                "description": block.description,
                "limit": block.limit,
                "pinned": block.pinned,
            },
            block.value,
            block.head,
        )
    for passage in memory.passages:
        name = f"passages/{make_name(passage)}"
        made[f"{name}.md"] = _write_note(
            {
                "title": make_title(passage),
                "type": PASSAGE,
                "permalink": name,
                "tags": passage.tags,
                "created": _get_date(passage),
                "importance": passage.importance,
                "source": passage.source,
            },
            passage.text,
            memory.heads.get(passage.id, ""),
        )
    return made | _write_conversations(memory, "conversations")


def _write_markdown(memory: MemoryContents) -> dict[str, bytes]:
    made: dict[str, bytes] = {}
    for block in memory.blocks:
        head = {"description": block.description, "limit": block.limit, "pinned": block.pinned}
        made[f"{block.label}.md"] = _write_note(head, block.value, block.head)
    for passage in memory.passages:
        values = (_get_date(passage), passage.importance, passage.tags, passage.source)
        found = dict(zip(_IN_PASSAGE, values, strict=True))
        own = memory.heads.get(passage.id, "")
        made[f"archive/{make_name(passage)}.md"] = _write_note(found, passage.text, own)
    return made | _write_conversations(memory, "sessions")


def _write_note(head: Mapping[str, object], body: str, own: str = "") -> bytes:
    """Return a Markdown file with front matter: that of its `own`, and keys that have a value.

    What memfs sets by itself is left out.
    """
    found = {key: value for key, value in head.items() if value not in (None, "", [], ())}
    first = dict.fromkeys(MANAGED) if own else {}
    written = yaml_edit.write(own.removeprefix(frontmatter.BOM), first | found, "\n")
    text = body.strip("\n")
    return f"{written}\n{text}\n".encode("utf-8", "replace")


def _write_conversations(memory: MemoryContents, folder: str) -> dict[str, bytes]:
    """Make a note of its own type for each session: what was said, and by whom."""
    made = {}
    for (host, session), messages in memory.sessions.items():
        head: dict[str, object] = {
            "title": f"{host} {session}",
            "type": CONVERSATION,
            "created": next((each.at for each in messages if each.at), None),
        }
        said = [
            f"### {each.who.capitalize()} {each.at}".rstrip() + f"\n\n{each.text}"
            for each in messages
            if each.role != "tool"
        ]
        name = f"{folder}/{host}/{store_paths.file_name(session)}.md"
        made[name] = _write_note(head, "\n\n".join(said))
    return made


def _write_letta(memory: MemoryContents) -> dict[str, bytes]:
    """Make a file with one agent that has the blocks, and beside it the list of passages.

    An agent file holds no passages: the server gives their list and takes them, one by one.
    """
    listed = [
        {
            "id": f"block-{number}",
            "label": block.label,
            "value": block.value,
            "limit": block.limit,
            "read_only": block.read_only,
            "description": block.description or None,
            "metadata": {FRONT_MATTER: _list_other_keys(block.head, _IN_BLOCK)},
            "tags": block.tags or None,
            "is_template": False,
            "hidden": None,
        }
        for number, block in enumerate(memory.blocks)
    ]
    agent: dict[str, object] = {
        "id": "agent-0",
        "name": memory.name,
        "agent_type": "letta_v1_agent",
        "description": f"The memory of {memory.name}, from memfs",
        "system": "",
        "block_ids": [block["id"] for block in listed],
        **{name: [] for name in _AGENT_LISTS},
        "tool_exec_environment_variables": {},
        "include_base_tools": True,
        "timezone": "UTC",
    }
    whole = {
        "agents": [agent],
        **{name: [] for name in _FILE_LISTS},
        "blocks": listed,
        "metadata": {"revision_id": "unknown"},
        "created_at": clock.now(),
    }
    made: dict[str, object] = {"": whole}
    if memory.passages:
        made[".archival.json"] = [_make_letta_passage(memory, each) for each in memory.passages]
    return {
        name: f"{json.dumps(value, ensure_ascii=False, indent=2)}\n".encode("utf-8", "replace")
        for name, value in made.items()
    }


def _make_letta_passage(memory: MemoryContents, passage: Passage) -> dict[str, object]:
    digest = hashlib.sha256(passage.id.encode("utf-8", "replace")).hexdigest()
    parts = (digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32])
    return {
        "id": f"passage-{'-'.join(parts)}",
        "text": passage.text,
        "tags": list(passage.tags),
        "created_at": _get_date(passage),
        "metadata": {
            "importance": passage.importance,
            "source": passage.source,
            FRONT_MATTER: _list_other_keys(memory.heads.get(passage.id, ""), _IN_PASSAGE),
        },
        "is_deleted": False,
    }


def _write_server_memory(memory: MemoryContents) -> dict[str, bytes]:
    """Make lines of entities: the first observation of one is its text, others are about it."""
    found: list[tuple[str, str, str, dict[str, object]]] = []
    for block in memory.blocks:
        about: dict[str, object] = {
            "description": block.description,
            "limit": block.limit,
            "read only": "yes" if block.read_only else "",
            "tags": ", ".join(block.tags),
            KEPT_KEYS: _list_other_keys(block.head, _IN_BLOCK),
        }
        found.append((block.label, BLOCK_ENTITY, block.value, about))
    for passage in memory.passages:
        about = {
            "created": _get_date(passage),
            "importance": passage.importance,
            "tags": ", ".join(passage.tags),
            "source": passage.source,
            KEPT_KEYS: _list_other_keys(memory.heads.get(passage.id, ""), _IN_PASSAGE),
        }
        name = f"{make_title(passage)} ({passage.id})"
        found.append((name, PASSAGE_ENTITY, passage.text, about))
    lines = []
    for name, kind, text, about in found:
        if kept := about.pop(KEPT_KEYS):
            about[KEPT_KEYS] = json.dumps(kept, ensure_ascii=False)
        known = [f"{key}: {value}" for key, value in about.items() if value not in ("", None)]
        entity = {
            "type": "entity",
            "name": name,
            "entityType": kind,
            "observations": [text, *known],
        }
        lines.append(json.dumps(entity, ensure_ascii=False))
    return {"": "\n".join(lines).encode("utf-8", "replace")}


EXPORTERS = {
    "letta": Exporter(_write_letta),
    "basic-memory": Exporter(write_basic_memory, folder=True, keys=NOTE_KEYS),
    "markdown": Exporter(_write_markdown, folder=True),
    "server-memory": Exporter(_write_server_memory),
}
