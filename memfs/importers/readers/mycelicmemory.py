"""MycelicMemory: memories with relations and conversations, each database one SQLite file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memfs.core import yaml_edit
from memfs.core.privacy import storable
from memfs.core.records import Identity, Message
from memfs.files import database, outside
from memfs.files.database import Database, Row
from memfs.hosts.jsonl import text_of
from memfs.importers.readers import json_files
from memfs.importers.readers.field_values import (
    format_items,
    join_sections,
    parse_list,
    parse_object,
    parse_time,
)
from memfs.importers.readers.items import AnyItem, ToolBlock, ToolSession, ToolText, UnreadItem

NAME = "mycelicmemory"
_FILE = "memories.db"
_MEMORIES = (
    "id", "content", "importance", "tags", "domain", "created_at", "chunk_level",
    "conversation_id",
)  # fmt: skip
_RELATIONS = ("source_memory_id", "target_memory_id", "relationship_type", "context")
_CONVERSATIONS = ("id", "session_id", "project_path", "created_at")
_MESSAGES = ("id", "session_id", "role", "content", "timestamp")
_BLOCKS = ("id", "block_type", "label", "content", "max_tokens", "version", "description")
_ROLES = ("user", "assistant", "tool")
_QUOTED = 80  # characters of a memory that another one is related to
_CHARACTERS = 4  # of a token, about


def find(home: str, environment: Mapping[str, str]) -> list[str]:  # noqa: ARG001 - it reads none
    """List its databases: the one that its settings name or the default, and the others."""
    top = f"{home}/.mycelicmemory"
    settings, _ = yaml_edit.read(json_files.read_head(f"{top}/config.yaml", 1 << 14))
    moved = text_of(parse_object(settings.get("database")).get("path"))
    others = [f"{top}/databases/{name}" for name in outside.list_names(f"{top}/databases")]
    found = [
        moved.replace("~", home, 1) if moved.startswith("~/") else moved,
        f"{top}/{_FILE}",
        *(each for each in others if each.endswith(".db")),
    ]
    return [path for path in dict.fromkeys(found) if path and outside.status(path)]


def sniff(path: str) -> bool:
    """Tell whether a path is a database of it, or the folder of its default one."""
    path = outside.find_inside(path, _FILE)
    return {"importance", "domain"} <= {*database.find_columns(path, "memories")} and bool(
        database.find_columns(path, "memory_relationships")
    )


def read(path: str) -> Iterator[AnyItem]:
    """Yield memories as texts, blocks, and conversations as sessions."""
    with database.open_database(outside.find_inside(path, _FILE)) as base:
        conversations = _read_conversations(base)
        projects = {ident: row.text("project_path") for ident, row in conversations.items()}
        memories = [
            row
            for row in base.read_rows("memories", _MEMORIES, "created_at")
            if not row.values.get("chunk_level")  # the others repeat parts of one
        ]
        relations = _read_relations(base, memories)
        for row in memories:
            project = projects.get(row.text("conversation_id"), "")
            yield _make_text(row, relations.get(row.text("id"), []), project)
        yield from _read_blocks(base)
        yield from _read_sessions(base, conversations)


def _read_relations(base: Database, memories: list[Row]) -> dict[str, list[tuple[str, str]]]:
    """Return (type, line) of the relations of each memory, by its id."""
    titles = {row.text("id"): _quote_start(row.text("content")) for row in memories}
    found: dict[str, list[tuple[str, str]]] = {}
    for row in base.read_rows("memory_relationships", _RELATIONS, "created_at"):
        kind = row.text("relationship_type") or "related to"
        target, why = titles.get(row.text("target_memory_id"), ""), row.text("context")
        if target:
            line = f"{kind} → {target}" + (f" ({why})" if why else "")
            found.setdefault(row.text("source_memory_id"), []).append((kind, line))
    return found


def _quote_start(content: str) -> str:
    """Return the beginning of a text on one line; a secret in it goes before the cut."""
    whole = " ".join(storable(content).split())
    return whole if len(whole) <= _QUOTED else whole[: _QUOTED - 1].rstrip() + "…"


def _make_text(row: Row, relations: list[tuple[str, str]], project: str) -> AnyItem:
    ident = row.text("id") or f"row of {row.text('created_at')}"
    if not row.text("content"):
        return UnreadItem(f"memory {ident}", "it says nothing")
    importance = row.values.get("importance")
    marks = ["contradicts"] if any(kind == "contradicts" for kind, _ in relations) else []
    return ToolText(
        ident=ident,
        noun="memory",
        text=join_sections(row.text("content"), format_items([line for _, line in relations])),
        at=parse_time(row.values.get("created_at")),
        tags=(row.text("domain"), *parse_list(row.values.get("tags")), *marks),
        importance=importance if isinstance(importance, int) else 5,
        project=project,
    )


def _read_blocks(base: Database) -> Iterator[AnyItem]:
    """Yield the latest version of each block, where a database has blocks."""
    latest: dict[str, tuple[int, Row]] = {}
    for row in base.read_rows("memory_blocks", _BLOCKS, "id"):
        label, number = row.text("label", "block_type"), row.values.get("version")
        version = number if isinstance(number, int) else 0
        if label and row.text("content") and version >= latest.get(label, (version, row))[0]:
            latest[label] = version, row
    for label, (_, row) in latest.items():
        most = row.values.get("max_tokens")
        yield ToolBlock(
            label=label,
            noun="block",
            text=row.text("content"),
            description=row.text("description"),
            limit=most * _CHARACTERS if isinstance(most, int) and 0 < most < 1 << 30 else 0,
            private=row.text("block_type") == "human",
        )


def _read_conversations(base: Database) -> dict[str, Row]:
    """Return the conversations by their ids; before schema 5 their table had another name."""
    return {
        row.text("id"): row
        for table in ("conversations", "cc_sessions")
        for row in base.read_rows(table, _CONVERSATIONS, "created_at")
    }


def _read_sessions(base: Database, conversations: Mapping[str, Row]) -> Iterator[AnyItem]:
    """Yield conversations under the ids that Claude Code gave them."""
    said: dict[str, list[Message]] = {}
    for table in ("messages", "cc_messages"):
        for row in base.read_rows(table, _MESSAGES, "sequence_index"):
            conversation = conversations.get(row.text("session_id"))
            if conversation is None or row.text("role") not in _ROLES or not row.text("content"):
                continue
            name = conversation.text("session_id", "id")
            number = len(said.setdefault(name, []))
            message = Identity(name, "", conversation.text("project_path")).make_message(
                NAME,
                row.text("id") or f"{name}:{number}",
                parse_time(row.values.get("timestamp")),
                row.text("role"),
                row.text("content"),
            )
            said[name].append(message)
    for name, messages in said.items():
        project = messages[0].project
        yield ToolSession(name, "conversation", tuple(messages), project, recorded_by="claude")
