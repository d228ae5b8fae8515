"""The tables of the first founding document, column by column: where memfs has each.

A block is a file, a row of its history a line of the journal. `memfs show --json` and `memfs log
--json` are the rows. One column has another default: a block without `max_tokens` has a limit in
characters alone.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memfs.core.body_edits import Append, Edit, Remove, Replace
from memfs.core.records import Origin
from memfs.core.tokens import estimate
from memfs.ops import edit, init
from memfs.store import blocks
from memfs.tools import calls, registry
from memfs.tools.calls import ToolCall
from memfs.tools.tool_context import ToolContext
from tests.cli.conftest import Run
from tests.conftest import NOW

LATER = "2026-05-04T10:00:00Z"
EDITS: list[Edit] = [
    Append("human", "Works at Google.\nLikes tea."),
    Replace("human", "Google", "Anthropic"),
    Remove("human", "Likes tea."),
]
TRIGGERS = ("user", "agent", "system")

Record = dict[str, object]


def load(memfs: Run, *words: str) -> list[Record]:
    found = json.loads(memfs(*words, "--json").out)
    return found if isinstance(found, list) else [found]


@pytest.fixture
def edited(repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's block after one edit of each operation and trigger, and a session's block."""
    path = home / ".agent-memory/config.yaml"
    path.parent.mkdir(mode=0o700)
    path.write_text("memfs: 1\nblocks: {human: {max_tokens: 500}, working: {max_tokens: 1000}}\n")
    init.run(str(repo), str(home))
    place = blocks.find_place(str(repo))
    monkeypatch.setenv("MEMFS_NOW", LATER)
    for each, actor in zip(EDITS, TRIGGERS, strict=True):
        edit.run(place, [each], Origin(actor))
    given = {"label": "working", "content": "Step 1."}
    context = ToolContext(str(repo), Origin("agent", "claude", "s1"))
    done = calls.run(context, registry.built_in(), ToolCall("core_memory_append", given))
    assert not done.is_error, done.text


def body(text: object) -> str:
    return blocks.make("user", "human", "", str(text)).value


@pytest.mark.usefixtures("edited")
def test_memory_blocks(memfs: Run) -> None:
    [human] = load(memfs, "show", "human")
    history = load(memfs, "log", "human")
    columns: Record = {
        "id": f"{human['tier']}:{human['label']}",
        "block_type": human["label"],
        "user_id": human["tier"],
        "session_id": history[0]["session"] or None,
        "content": human["value"],
        "max_tokens": human["max_tokens"],
        "current_tokens": human["tokens"],
        "version": human["version"],
        "created_at": history[-1]["at"],
        "updated_at": human["updated_at"],
    }
    assert columns == {
        "id": "user:human",
        "block_type": "human",
        "user_id": "user",  # each user has a store of their own: the account is its folder
        "session_id": None,
        "content": "Works at Anthropic.",
        "max_tokens": 500,
        "current_tokens": estimate("Works at Anthropic."),
        "version": 4,
        "created_at": NOW,
        "updated_at": LATER,
    }


@pytest.mark.usefixtures("edited")
def test_the_block_of_a_session(memfs: Run) -> None:
    [working] = load(memfs, "show", "working", "--session", "s1")
    [*_, entry] = load(memfs, "log", "working", "--session", "s1")
    assert (working["tier"], working["label"], working["value"]) == (
        "session",
        "working",
        "Step 1.",
    )
    assert working["max_tokens"] == 1000
    assert entry["session"] == "s1"
    assert Path(str(working["path"])).parent.name == "s1"
    assert memfs("show", "session:working", "--session", "s2").code != 0


@pytest.mark.usefixtures("edited")
def test_types_are_labels_and_the_scope_is_the_tier(memfs: Run) -> None:
    found = {
        each["label"]: each["tier"] for each in load(memfs, "show", "--list", "--session", "s1")
    }
    assert found == {
        "persona": "project",
        "human": "user",
        "working": "session",
        "system_rules": "project",  # `system`
    }


@pytest.mark.usefixtures("edited")
def test_memory_block_history(memfs: Run) -> None:
    rows = [
        {
            "id": bool(each["id"]),
            "block_id": f"{each['tier']}:{each['label']}",
            "operation": each["op"],
            "old_content": body(each["before"]),
            "new_content": body(each["after"]),
            "changed_at": each["at"],
            "triggered_by": each["actor"],
        }
        for each in load(memfs, "log", "human")[::-1][1:]
    ]
    texts = [
        "",
        "Works at Google.\nLikes tea.",
        "Works at Anthropic.\nLikes tea.",
        "Works at Anthropic.",
    ]
    operations = ("append", "replace", "remove")
    assert rows == [
        {
            "id": True,
            "block_id": "user:human",
            "operation": operation,
            "old_content": old,
            "new_content": new,
            "changed_at": LATER,
            "triggered_by": actor,
        }
        for operation, old, new, actor in zip(operations, texts, texts[1:], TRIGGERS, strict=False)
    ]
    ids = [each["id"] for each in load(memfs, "log")]
    assert len(set(ids)) == len(ids)
