"""mcp-memory-service: memories with tags in one SQLite file, beside their vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memfs.files import database, outside
from memfs.importers.readers.field_values import parse_list, parse_time
from memfs.importers.readers.items import AnyItem, OmittedItem, ToolText, UnreadItem

NAME = "mcp-memory-service"
_FILE = "sqlite_vec.db"
_FOLDERS = (".local/share/mcp-memory", "Library/Application Support/mcp-memory")
_VARIABLES = ("MCP_MEMORY_SQLITE_PATH", "MCP_MEMORY_SQLITEVEC_PATH")
_COLUMNS = (
    "id", "content_hash", "content", "tags", "memory_type", "created_at", "created_at_iso",
    "deleted_at",
)  # fmt: skip


def find(home: str, environment: Mapping[str, str]) -> list[str]:
    """List its database, where the environment or the system has it."""
    named = [environment.get(name, "") for name in _VARIABLES]
    folders = [environment.get("MCP_MEMORY_BASE_DIR", ""), *(f"{home}/{each}" for each in _FOLDERS)]
    found = dict.fromkeys([*named, *(f"{folder}/{_FILE}" for folder in folders if folder)])
    return [path for path in found if path and outside.status(path)]


def sniff(path: str) -> bool:
    """Tell whether a path is its database, or the folder of it."""
    columns = database.find_columns(outside.find_inside(path, _FILE), "memories")
    return {"content_hash", "content"} <= {*columns}


def read(path: str) -> Iterator[AnyItem]:
    """Yield a text for each memory that is not deleted."""
    with database.open_database(outside.find_inside(path, _FILE)) as base:
        for row in base.read_rows("memories", _COLUMNS, "id"):
            ident = row.text("content_hash")[:16] or f"memory {row.values.get('id')}"
            if row.values.get("deleted_at"):
                yield OmittedItem("memory", "deleted there")
            elif not row.text("content"):
                yield UnreadItem(ident, "it says nothing")
            else:
                tags = [
                    tag for each in parse_list(row.values.get("tags")) for tag in each.split(",")
                ]
                yield ToolText(
                    ident=ident,
                    noun="memory",
                    text=row.text("content"),
                    at=parse_time(row.values.get("created_at"), row.text("created_at_iso")),
                    tags=(row.text("memory_type"), *tags),
                )
