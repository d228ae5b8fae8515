"""Appends to full blocks, page-outs in one call with them, and the session's block."""

import json
from pathlib import Path

import pytest

import memfs as package
from memfs.core.body_edits import Describe, Edit, Rethink
from memfs.core.records import Origin
from memfs.ops import edit, history
from memfs.store import blocks
from memfs.store.blocks import Place
from memfs.tools import batch, calls, registry
from memfs.tools.calls import Result, ToolCall
from memfs.tools.tool_context import ToolContext
from tests.cli.conftest import Run, memfs

__all__ = ["memfs"]

LINES = "\n".join(f"- Note {n}: the test server {n} answers slowly today." for n in range(6))


@pytest.fixture
def context(place: Place, repo: Path) -> ToolContext:
    edits: list[Edit] = [Rethink("persona", LINES), Describe("persona", {"limit": len(LINES) + 20})]
    edit.run(place, edits, Origin("user"))
    return ToolContext(str(repo), Origin("agent", "claude", "s1"))


def append(context: ToolContext, content: str, **given: object) -> Result:
    call = ToolCall("core_memory_append", {"label": "persona", "content": content, **given})
    return calls.run(context, registry.built_in(), call)


NEW = "- The release is on Thursday, and Ana decides."


def test_a_full_block_offers_a_page_out_by_name(context: ToolContext, place: Place) -> None:
    refused = append(context, NEW)
    assert refused.is_error
    assert "call again with make_room: true to page out these parts: - Note " in refused.text
    assert blocks.get(place, "persona").value == LINES


def test_make_room_pages_out_and_appends_in_one_call(context: ToolContext, place: Place) -> None:
    done = append(context, NEW, make_room=True, expected_version=2)
    assert not done.is_error, done.text
    assert "paged out: " in done.text
    block = blocks.get(place, "persona")
    assert block.value.endswith(NEW)
    assert block.chars <= block.limit
    assert [each.op for each in history.log(place, "persona")[:2]] == ["append", "page-out"]
    assert {each.actor for each in history.log(place, "persona")[:2]} == {"agent"}


@pytest.mark.parametrize(
    "given", [{"expected_version": 1}, {"content": "x" * 5000}], ids=["version", "length"]
)
def test_where_an_append_stays_impossible_nothing_is_paged_out(
    context: ToolContext, place: Place, given: dict[str, object]
) -> None:
    refused = append(context, **{"content": NEW, "make_room": True, **given})  # type: ignore[arg-type]
    assert refused.is_error
    assert blocks.get(place, "persona").value == LINES
    assert history.log(place, "persona")[0].op != "page-out"


def test_a_batch_makes_no_room(context: ToolContext) -> None:
    call = ToolCall("core_memory_append", {"label": "persona", "content": NEW, "make_room": True})
    [refused] = batch.run_together(context, registry.built_in(), [call])
    assert refused.text == "error: make_room cannot be part of a batch; call it by itself"


def test_every_door_that_names_a_session_has_its_working_block(
    place: Place, repo: Path, memfs: Run
) -> None:
    call = {"name": "core_memory_append", "arguments": {"label": "working", "content": "step 1"}}
    shown = memfs("apply", "--session", "s7", stdin=json.dumps(call))
    assert (shown.code, "done: 'working' is at version" in shown.out) == (0, True)
    assert not (repo / ".agent-memory" / "blocks" / "working.md").exists()
    with package.open(str(repo), session="s8") as memory:
        memory.append("working", "step 2")
        assert memory.show("working").value.endswith("step 2")
    context = ToolContext(str(repo), Origin("agent", "", "s9"))
    assert (
        "[session:working]"
        in calls.run(
            context, registry.built_in(), ToolCall("core_memory_read", {"label": "working"})
        ).text
    )


def test_calls_of_a_model_are_the_agents_in_the_journal(place: Place, memfs: Run) -> None:
    call = {"name": "core_memory_append", "arguments": {"label": "human", "content": "Likes tea."}}
    assert memfs("apply", stdin=json.dumps(call)).code == 0
    assert history.log(place, "human")[0].actor == "agent"


def test_apply_pages_out_and_in(place: Place, context: ToolContext, memfs: Run) -> None:
    calls_in = [
        {"name": "memory_page_out", "arguments": {"label": "persona", "task": "the billing API"}},
        {"name": "memory_page_in", "arguments": {"query": "persona"}},
    ]
    shown = memfs("apply", stdin="\n".join(map(json.dumps, calls_in)))
    assert shown.code == 0, shown.out
    assert "restores these parts" in shown.out
    assert blocks.get(place, "persona").value == LINES


def test_a_page_in_keeps_to_what_the_window_of_the_host_has_free(place: Place, repo: Path) -> None:
    (repo / ".agent-memory" / "config.yaml").write_text("memfs: 1\ncontext: {max_tokens: 1100}\n")
    text = " ".join(
        f"Retry number {n} of the billing gateway waits {n} seconds." for n in range(60)
    )
    sizes = []
    for host, session in (("claude", "s1"), ("other", "s2")):
        context = ToolContext(str(repo), Origin("agent", host, session))
        for name, given in (
            ("archival_memory_insert", {"content": text}),
            ("memory_page_in", {"query": "retries of the billing gateway"}),
        ):
            done = calls.run(context, registry.built_in(), ToolCall(name, given))
            assert not done.is_error, done.text
        found = blocks.find_serving(str(repo), session)
        assert found
        sizes.append(blocks.get(found, "working").chars)
    assert sizes[0] > 1000 > sizes[1]


def test_a_page_out_frees_what_the_window_of_the_host_lacks(place: Place, repo: Path) -> None:
    (repo / ".agent-memory" / "config.yaml").write_text("memfs: 1\ncontext: {max_tokens: 1100}\n")
    notes = [f"- Retry number {n} of the billing gateway waits {n} seconds." for n in range(40)]
    edit.run(place, [Rethink("persona", "\n".join(notes))], Origin("user"))
    call = ToolCall("memory_page_out", {"label": "persona", "task": "the billing gateway"})
    wide = calls.run(ToolContext(str(repo), Origin("agent", "claude")), registry.built_in(), call)
    assert wide.text == "nothing was paged out of 'persona': every part is relevant to the task"
    narrow = calls.run(ToolContext(str(repo), Origin("agent", "other")), registry.built_in(), call)
    assert " tokens more than this context window has for blocks; now they fit" in narrow.text
    left = blocks.get(place, "persona").value
    assert 0 < len(left.splitlines()) < len(notes)
    again = calls.run(ToolContext(str(repo), Origin("agent", "other")), registry.built_in(), call)
    assert again.text == wide.text
    assert blocks.get(place, "persona").value == left


def test_a_page_out_says_what_the_window_lacks_still(place: Place, repo: Path) -> None:
    (repo / ".agent-memory" / "config.yaml").write_text("memfs: 1\ncontext: {max_tokens: 1100}\n")
    edits: list[Edit] = [Rethink("persona", LINES), Rethink("human", LINES * 8)]
    edit.run(place, edits, Origin("user"))
    call = ToolCall("memory_page_out", {"label": "persona"})
    done = calls.run(ToolContext(str(repo), Origin("agent", "other")), registry.built_in(), call)
    assert " are left: page out another block" in done.text
    assert blocks.get(place, "persona").value == ""
