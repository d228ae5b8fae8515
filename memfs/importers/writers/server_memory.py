"""The reference memory server of MCP: an entity for each block and passage, one on a line."""

from __future__ import annotations

import json

from memfs.importers.writers.contents import MemoryContents, get_date, list_other_keys, make_title

NAME = "server-memory"
FOLDER = SESSIONS = False
KEYS = ()
BLOCK, PASSAGE = "memory block", "memory passage"  # types of entities
FRONT_MATTER = "front matter"  # an observation with the other keys, as JSON


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
                FRONT_MATTER: _keep(block.head, "description", "limit", "read_only", "tags"),
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
            FRONT_MATTER: _keep(
                memory.heads.get(passage.id, ""), "created_at", "importance", "tags", "source"
            ),
        }
        name = f"{make_title(passage)} ({passage.id})"
        entities.append(_make_entity(name, PASSAGE, passage.text, about))
    lines = "\n".join(json.dumps(each, ensure_ascii=False) for each in entities)
    return {"": lines.encode("utf-8", "replace")}


def _keep(head: str, *known: str) -> str:
    found = list_other_keys(head, *known)
    return json.dumps(found, ensure_ascii=False) if found else ""


def _make_entity(
    name: str, kind: str, text: str, about: dict[str, object]
) -> dict[str, str | list[str]]:
    known = [f"{key}: {value}" for key, value in about.items() if value not in ("", None)]
    return {"type": "entity", "name": name, "entityType": kind, "observations": [text, *known]}
