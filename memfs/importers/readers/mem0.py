"""mem0: its history, an answer of get_all(), the platform's export, and OpenMemory's database.

The vector store is not opened: what it holds are pickles, which run code. The history says what
each memory is now; the ids of its user, and what else was noted with it, are in get_all() alone.
"""

import gzip
import io
import os
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from memfs.core.errors import MemfsError, StoreError
from memfs.core.records import Message
from memfs.files import database, outside
from memfs.files.database import Database
from memfs.hosts.jsonl import text_of
from memfs.importers import export_format
from memfs.importers.export_format import MeteredStream, UnpackMeter
from memfs.importers.readers import chat_exports, json_files
from memfs.importers.readers.field_values import (
    Fields,
    format_items,
    get_text,
    get_time,
    list_objects,
    parse_list,
    parse_object,
)
from memfs.importers.readers.items import (
    AnyItem,
    Importer,
    OmittedItem,
    ToolText,
    UnreadItem,
    group_sessions,
)
from memfs.importers.readers.row_tools import has_tables

_FILE = "history.db"
_HEAD = 1 << 16  # bytes
_LIST = re.compile(r'(?:\{[^{}\[\]]*"(?:results|memories)"\s*:\s*)?\[\s*\{')
_LINES = re.compile(r"(^|/)memories\.jsonl\.gz$")  # in a backup of OpenMemory
_HISTORIES = {  # as the Python or the TypeScript program calls it
    "history": {"memory_id", "event", "is_deleted"},
    "memory_history": {"memory_id", "action", "is_deleted"},
}
_SCHEMAS: tuple[dict[str, set[str]], ...] = (
    *({table: columns} for table, columns in _HISTORIES.items()),
    {"memories": set(), "apps": set(), "memory_categories": set()},  # OpenMemory
)
_HISTORY = (
    "memory_id", "new_memory", "new_value", "event", "action", "created_at", "updated_at",
    "timestamp", "is_deleted",
)  # fmt: skip
_MESSAGES = ("id", "session_scope", "role", "content", "name", "created_at")
_MEMORIES = ("id", "user_id", "app_id", "content", "metadata", "state", "created_at", "updated_at")
_KINDS = ("category", "categories", "tags", "type", "topic")  # whose values are tags by themselves
_LONGEST = 60  # characters of a tag
_DELETED = OmittedItem("memory", "deleted in its tool")


def _find(home: str, environment: Mapping[str, str]) -> list[str]:
    folder = environment.get("MEM0_DIR") or f"{home}/.mem0"
    return [path for path in (f"{folder}/{_FILE}",) if os.path.isfile(path)]


def _sniff(path: str) -> bool:
    path = outside.find_inside(path, _FILE)
    if database.is_database(path):
        return has_tables(path, *_SCHEMAS)
    head = json_files.read_head(path, _HEAD)
    if head.startswith("PK"):
        with suppress(*export_format.DAMAGE, OSError, MemfsError):
            return any(True for _ in chat_exports.list_files(path, _LINES))
        return False
    if not head.startswith(("{", "[")):
        return False
    listed = _LIST.match(head) and '"memory"' in head and '"id"' in head
    return bool(listed) or all(f'"{name}"' in head for name in ("user", "apps", "owner_id"))


def _read(path: str) -> Iterator[AnyItem]:
    path = outside.find_inside(path, _FILE)
    if database.is_database(path):
        with database.open_database(path) as base:
            yield from _read_database(base)
    elif json_files.read_head(path).startswith("PK"):
        yield from _read_backup(path)
    else:
        found = json_files.load(path)
        yield from _read_lists(found if isinstance(found, dict) else {"results": found})


def _read_database(base: Database) -> Iterator[AnyItem]:
    table = next((t for t, names in _HISTORIES.items() if names <= {*base.list_columns(t)}), "")
    if table:
        yield from _replay(row.values for row in base.read_rows(table, _HISTORY))
        yield from _make_sessions(row.values for row in base.read_rows("messages", _MESSAGES))
        return
    tables = {
        name: [row.values for row in base.read_rows(name, columns)]
        for name, columns in (
            ("memories", _MEMORIES),
            ("apps", ("id", "name")),
            ("categories", ("id", "name")),
            ("memory_categories", ("memory_id", "category_id")),
        )
    }
    yield from _join_tables(tables)


def _replay(rows: Iterable[Fields]) -> Iterator[AnyItem]:
    """Yield what each memory is after the last of its events.

    They come as they were written: times do not order them, for an event may have none.
    """
    now: dict[str, tuple[str, str]] = {}
    deleted = set()
    for row in rows:
        ident, event = get_text(row, "memory_id"), get_text(row, "event", "action")
        text = get_text(row, "new_memory", "new_value")
        if event.upper() == "DELETE" or row.get("is_deleted") == 1:
            now.pop(ident, None)
            deleted.add(ident)
        elif ident and text:
            now[ident] = text, get_time(row, "updated_at", "created_at", "timestamp")
        else:
            yield UnreadItem("an event in the history", "its text or its memory id is missing")
    for ident, (text, at) in now.items():
        yield _make_text({"id": ident, "memory": text}, at)
    yield from [_DELETED] * len(deleted)


def _make_sessions(rows: Iterable[Fields]) -> Iterator[AnyItem]:
    """Yield the messages that it kept of each scope: the last ten."""
    said = []
    for row in rows:
        scope, ident = text_of(row.get("session_scope")), text_of(row.get("id"))
        role, text = text_of(row.get("role")), text_of(row.get("content"))
        if scope and ident and role in ("user", "assistant") and text.strip():
            at, speaker = get_time(row, "created_at"), text_of(row.get("name"))
            said.append(Message(ident, scope, "mem0", "", "", at, role, text, speaker=speaker))
    yield from group_sessions(said, "session")


def _read_lists(found: Fields) -> Iterator[AnyItem]:
    if "apps" in found:
        tables = {name: list_objects(found, name) for name in ("apps", "categories", "memories")}
        yield from _join_tables(
            {**tables, "memory_categories": list_objects(found, "memory_categories")}
        )
        return
    for name in ("results", "memories"):
        yield from _make_texts(list_objects(found, name))
        rows = found.get(name)
        odd = len(rows) - len(list_objects(found, name)) if isinstance(rows, list) else 0
        yield from [UnreadItem(f"an element of {name}", "it is not a JSON object")] * odd
    relations = [
        " → ".join(filter(None, (get_text(row, *names) for names in _RELATION)))
        for row in list_objects(found, "relations")
    ]
    if any(relations):
        yield ToolText("relations", "relation list", format_items([*filter(None, relations)]))


_RELATION = (("source",), ("relationship", "relation"), ("target", "destination"))


def _join_tables(tables: Mapping[str, list[Fields]]) -> Iterator[AnyItem]:
    apps = {row.get("id"): text_of(row.get("name")) for row in tables["apps"]}
    names = {row.get("id"): text_of(row.get("name")) for row in tables["categories"]}
    sorts: dict[object, list[str]] = {}
    for row in tables["memory_categories"]:
        sorts.setdefault(row.get("memory_id"), []).append(names.get(row.get("category_id"), ""))
    yield from _make_texts(
        {
            **row,
            "user_id": "",  # a key of its table
            "app": apps.get(row.get("app_id"), ""),
            "categories": sorts.get(row.get("id"), []),
        }
        for row in tables["memories"]
    )


def _make_texts(rows: Iterable[Fields]) -> Iterator[AnyItem]:
    for row in rows:
        if get_text(row, "state").lower() == "deleted":
            yield _DELETED
        else:
            yield _make_text(row, get_time(row, "updated_at", "created_at"))


def _make_text(row: Fields, at: str) -> AnyItem:
    ident = get_text(row, "id")
    with suppress(ValueError):  # SQLite has it without hyphens
        ident = str(uuid.UUID(ident))
    text = get_text(row, "memory", "content", "data")
    if not ident or not text:
        return UnreadItem(f"memory {ident}".strip(), "it has no text" if ident else "it has no id")
    return ToolText(ident, "memory", text, at, tuple(_list_tags(row)))


def _list_tags(row: Fields) -> Iterator[str]:
    noted = parse_object(row.get("metadata"))
    state = get_text(row, "state").lower()
    words = [*parse_list(row.get("categories")), get_text(row, "app")]
    words += [state if state != "active" else ""]
    words += [f"{name}:{get_text(row, name)}" for name in ("user_id", "agent_id", "run_id")]
    for key, value in noted.items():
        if key in _KINDS:
            words += parse_list(value)
        elif isinstance(value, str | int | float):
            words.append(f"{key}:{value}")
    for word in dict.fromkeys(words):
        if word.strip() and len(word) <= _LONGEST and not word.endswith(":"):
            yield word


def _read_backup(path: str) -> Iterator[AnyItem]:
    try:
        found = chat_exports.list_files(path, _LINES)  # which has the zip open
        first = next(found, None)
        if first is None:
            raise ValueError("memories.jsonl.gz is missing")
        with first[1]() as member:
            packed = member.read(json_files.LARGEST)
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as unpacked:
            meter = UnpackMeter(len(packed), json_files.LARGEST)
            lines = MeteredStream(unpacked, meter).read()
    except (*export_format.DAMAGE, gzip.BadGzipFile) as error:
        raise StoreError(
            f"{path} is damaged and cannot be read ({error})", "export the data again"
        ) from None
    rows = [parse_object(line) for line in lines.split(b"\n") if line.strip()]
    yield from _make_texts(row for row in rows if row)
    odd = UnreadItem("a line of memories.jsonl.gz", "it is not a JSON object")
    yield from [odd] * sum(not row for row in rows)


MEM0 = Importer("mem0", _sniff, _read, _find)
