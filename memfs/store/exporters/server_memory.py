"""The reference memory server of MCP: an entity for each block and passage, one on a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memfs.store.exporters.contents import get_date, make_title

if TYPE_CHECKING:
    from memfs.store.exporters.contents import MemoryContents

NAME = "server-memory"
FOLDER = SESSIONS = False
BLOCK, PASSAGE = "memory block", "memory passage"  # types of entities


def make_files(memory: MemoryContents) -> dict[str, bytes]:
    """Return the file. The first observation of an entity is its text, others are about it."""
    entities = [
        _make_entity(
            block.label,
            BLOCK,
            block.value,
            {
                "description": block.description,
                "limit": block.limit,
                "read only": "yes" if block.read_only else "",
                "tags": ", ".join(block.tags),
            },
        )
        for block in memory.blocks
    ]
    for passage in memory.passages:
        about = {
            "created": get_date(passage) or "",
            "importance": passage.importance,
            "tags": ", ".join(passage.tags),
            "source": passage.source,
        }
        name = f"{make_title(passage)} ({passage.id})"
        entities.append(_make_entity(name, PASSAGE, passage.text, about))
    lines = "\n".join(json.dumps(each, ensure_ascii=False) for each in entities)
    return {"": lines.encode("utf-8", "replace")}


def _make_entity(
    name: str, kind: str, text: str, about: dict[str, object]
) -> dict[str, str | list[str]]:
    known = [f"{key}: {value}" for key, value in about.items() if value not in ("", None)]
    return {"type": "entity", "name": name, "entityType": kind, "observations": [text, *known]}
