"""The tables of the first founding document, column by column: where memfs has each.

A block is a file, a row of its history a line of the journal. `memfs show --json` and `memfs log
--json` are the rows. One column has another default: a block without `max_tokens` has a limit in
characters alone.
"""

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
    assert (human["tier"], human["label"]) == ("user", "human")  # id, block_type and user_id: each
    assert history[0]["session"] == ""  # user has a store of their own
    assert human["value"] == "Works at Anthropic."
    assert (human["max_tokens"], human["tokens"]) == (500, estimate("Works at Anthropic."))
    assert human["version"] == 4
    assert (history[-1]["at"], human["updated_at"]) == (NOW, LATER)  # created_at, updated_at


@pytest.mark.usefixtures("edited")
def test_the_block_of_a_session(memfs: Run) -> None:
    [working] = load(memfs, "show", "working", "--session", "s1")
    [*_, entry] = load(memfs, "log", "working", "--session", "s1")
    found = (working["tier"], working["label"], working["value"])
    assert found == ("session", "working", "Step 1.")
    assert working["max_tokens"] == 1000
    assert entry["session"] == "s1"
    assert Path(str(working["path"])).parent.name == "s1"
    assert memfs("show", "session:working", "--session", "s2").code != 0


@pytest.mark.usefixtures("edited")
def test_types_are_labels_and_the_scope_is_the_tier(memfs: Run) -> None:
    listed = load(memfs, "show", "--list", "--session", "s1")
    assert {each["label"]: each["tier"] for each in listed} == {
        "persona": "project",
        "human": "user",
        "working": "session",
        "system_rules": "project",  # `system`
    }


@pytest.mark.usefixtures("edited")
def test_memory_block_history(memfs: Run) -> None:
    tea = "\nLikes tea."
    texts = ["", f"Works at Google.{tea}", f"Works at Anthropic.{tea}", "Works at Anthropic."]
    entries = load(memfs, "log", "human")[::-1][1:]
    assert [(each["tier"], each["label"], each["at"]) for each in entries] == [
        ("user", "human", LATER)
    ] * 3
    assert [each["op"] for each in entries] == ["append", "replace", "remove"]
    assert [each["actor"] for each in entries] == [*TRIGGERS]
    assert [body(each["before"]) for each in entries] == texts[:-1]
    assert [body(each["after"]) for each in entries] == texts[1:]
    ids = [each["id"] for each in load(memfs, "log")]
    assert len(set(ids)) == len(ids)
