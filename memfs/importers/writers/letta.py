"""Letta: an agent file with one agent that has the blocks, and beside it the archival passages.

An agent file holds no passages: they are the list that the server gives and, one by one, takes.
"""

from __future__ import annotations

import hashlib
import json

from memfs.core.block import Block
from memfs.core.records import Passage
from memfs.importers.writers.contents import MemoryContents, get_date, list_other_keys
from memfs.store import clock

NAME = "letta"
FOLDER = SESSIONS = False
KEYS = ()
ARCHIVAL = ".archival.json"
FRONT_MATTER = "front_matter"  # what has no field of its own, in the metadata
_IN_BLOCK = ("limit", "read_only", "description", "tags")
_IN_PASSAGE = ("created_at", "importance", "tags", "source")
_EMPTY = (  # lists of an agent
    "memory_blocks", "tools", "tool_ids", "source_ids", "tool_rules", "tags", "messages",
    "in_context_message_ids", "files_agents", "group_ids",
)  # fmt: skip
_OTHERS = ("groups", "files", "sources", "tools", "mcp_servers", "skills")


def make_files(memory: MemoryContents) -> dict[str, bytes]:
    """Return the agent file, and the list of passages if there are any."""
    blocks = [_make_block(number, block) for number, block in enumerate(memory.blocks)]
    agent: dict[str, object] = {
        "id": "agent-0",
        "name": memory.name,
        "agent_type": "letta_v1_agent",
        "description": f"The memory of {memory.name}, from memfs",
        "system": "",
        "block_ids": [block["id"] for block in blocks],
        **{name: [] for name in _EMPTY},
        "tool_exec_environment_variables": {},
        "include_base_tools": True,
        "timezone": "UTC",
    }
    whole = {
        "agents": [agent],
        **{name: [] for name in _OTHERS},
        "blocks": blocks,
        "metadata": {"revision_id": "unknown"},
        "created_at": clock.now(),
    }
    made = {"": _encode(whole)}
    if memory.passages:
        made[ARCHIVAL] = _encode([_make_passage(memory, passage) for passage in memory.passages])
    return made


def _make_block(number: int, block: Block) -> dict[str, object]:
    return {
        "id": f"block-{number}",
        "label": block.label,
        "value": block.value,
        "limit": block.limit,
        "read_only": block.read_only,
        "description": block.description or None,
        "metadata": _keep(block.head, *_IN_BLOCK),
        "tags": block.tags or None,
        "is_template": False,
        "hidden": None,
    }


def _keep(head: str, *known: str) -> dict[str, object]:
    return {FRONT_MATTER: list_other_keys(head, *known)}


def _make_passage(memory: MemoryContents, passage: Passage) -> dict[str, object]:
    digest = hashlib.sha256(passage.id.encode("utf-8", "replace")).hexdigest()
    parts = (digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32])
    return {
        "id": f"passage-{'-'.join(parts)}",
        "text": passage.text,
        "tags": list(passage.tags),
        "created_at": get_date(passage),
        "metadata": {
            "importance": passage.importance,
            "source": passage.source,
            **_keep(memory.heads.get(passage.id, ""), *_IN_PASSAGE),
        },
        "is_deleted": False,
    }


def _encode(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return f"{text}\n".encode("utf-8", "replace")
