"""Several calls: each by itself, or all or none."""

import pytest

from memfs.store import archive, blocks, journal
from memfs.store.blocks import Place
from memfs.tools import batch
from memfs.tools.calls import ToolCall
from memfs.tools.tool_context import ToolContext
from tests.tools.conftest import TOOLS


def append(label: str, text: str, **more: object) -> ToolCall:
    return ToolCall("core_memory_append", {"label": label, "content": text, **more})


def test_in_order_one_failure_keeps_no_other_from_being_done(
    context: ToolContext, place: Place
) -> None:
    results = batch.run_in_order(
        context, TOOLS, [append("human", "a"), append("no", "b"), append("human", "c")]
    )
    assert [each.is_error for each in results] == [False, True, False]
    assert blocks.get(place, "human").value == "a\nc"


def test_together_all_is_done_in_one_step(context: ToolContext, place: Place) -> None:
    calls = [
        append("human", "a", expected_version=1),
        append("persona", "b", reason="both"),
        ToolCall("archival_memory_insert", {"content": "a passage"}),
        ToolCall("core_memory_read", {"label": "human"}),
        ToolCall("memory", {"command": "create", "path": "/memories/new.md", "file_text": "n"}),
    ]
    results = batch.run_together(context, TOOLS, calls)
    assert not any(each.is_error for each in results)
    assert results[3].text.endswith("\n\na"), "it reads what was just written"
    assert blocks.get(place, "new").value == "n"
    assert len(archive.sources(place.home)) == 1
    assert {entry.reason for entry in journal.read(place.home)[-2:]} == {"both"}


@pytest.mark.parametrize(
    "bad",
    [
        append("nobody", "x"),
        append("human", "x" * 9000),
        ToolCall("zzz"),
        ToolCall("memory_undo", {"label": "human"}),
        append("human", "x", expected_version=9),
        ToolCall("archival_memory_insert", {"content": ""}),
        ToolCall("memory", {"command": "delete", "path": "/memories/none.md"}),
        ToolCall("core_memory_append", 5),
    ],
)
def test_together_nothing_is_done_if_one_cannot_be(
    context: ToolContext, place: Place, bad: ToolCall
) -> None:
    before = [block.raw for block in blocks.load(place)]
    results = batch.run_together(
        context,
        TOOLS,
        [append("persona", "a"), ToolCall("archival_memory_insert", {"content": "p"}), bad],
    )
    assert all(each.is_error for each in results)
    assert results[2].text.startswith(("error: ", "Error: "))
    assert [block.raw for block in blocks.load(place)] == before
    assert archive.sources(place.home) == []
