"""Seed 000's tables: what each of their columns says is had from memfs."""

from __future__ import annotations

import json
from pathlib import Path

from memfs.core.block import Block
from memfs.core.body_edits import Append, Remove, Replace
from memfs.core.records import Origin
from memfs.ops import edit, show
from memfs.store import blocks
from memfs.store.blocks import Place
from memfs.tools import calls, registry
from memfs.tools.calls import ToolCall
from memfs.tools.tool_context import ToolContext
from tests.cli.conftest import Run

AGENT = Origin("agent", "claude", "s1", "they said so")


def test_memory_blocks(place: Place, repo: Path, memfs: Run) -> None:
    edit.run(place, [Append("human", "Name: Ana")], AGENT)
    shown = {each["label"]: each for each in json.loads(memfs("show", "--list", "--json").out)}
    human = shown["human"]
    block: Block = show.run(place, "human").block
    assert {  # column: where it is
        "id": f"{human['tier']}:{human['label']}",
        "block_type": human["label"],
        "user_id": human["tier"],  # of the user whose home it is in
        "content": human["value"],
        "max_tokens": human["limit"],  # counted in characters; max_tokens is taken, too
        "current_tokens": human["chars"],
        "version": human["version"],
        "updated_at": str(block.meta["updated_at"]),
    } == {
        "id": "user:human",
        "block_type": "human",
        "user_id": "user",
        "content": "Name: Ana",
        "max_tokens": 5000,
        "current_tokens": 9,
        "version": 2,
        "updated_at": "2026-05-03T10:00:00Z",
    }
    first = json.loads(memfs("log", "human", "--json").out)[-1]
    assert (first["op"], first["at"]) == ("create", "2026-05-03T10:00:00Z")  # created_at


def test_memory_blocks_of_a_session(place: Place, repo: Path) -> None:
    given = {"label": "working", "content": "Half is done."}
    done = calls.run(
        ToolContext(str(repo), AGENT), registry.built_in(), ToolCall("core_memory_append", given)
    )
    assert not done.is_error, done.text
    scratch = blocks.find_place(str(repo), "s1")
    assert blocks.get(scratch, "working").tier == "session"
    other = blocks.find_place(str(repo), "s2")
    assert "working" not in {each.label for each in blocks.load(other)}


def test_memory_block_history(place: Place, memfs: Run) -> None:
    edit.run(place, [Append("human", "Name: Ana")], AGENT)
    edit.run(place, [Replace("human", "Ana", "Bea")], Origin("user"))
    edit.run(place, [Remove("human", "Name: Bea")], AGENT)
    found = json.loads(memfs("log", "human", "--json").out)
    rows = [
        {
            "operation": each["op"],
            "old_content": "Ana" in (each["before"] or ""),
            "new_content": "Bea" in (each["after"] or ""),
            "triggered_by": each["actor"],
        }
        for each in found[:3]
    ]
    assert [row["operation"] for row in rows] == ["remove", "replace", "append"]
    assert [row["triggered_by"] for row in rows] == ["agent", "user", "agent"]
    assert (rows[1]["old_content"], rows[1]["new_content"]) == (True, True)
    assert len({each["id"] for each in found}) == len(found)
    assert all(each["at"] and (each["tier"], each["label"]) == ("user", "human") for each in found)
