"""Models search data sources with the archive."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfs.core.records import Origin
from memfs.ops import archive
from memfs.store.blocks import Place
from memfs.tools import calls, registry
from memfs.tools.calls import ToolCall
from memfs.tools.tool_context import ToolContext

TEXT = "A kettle is descaled with vinegar, once a month."
QUERY = "how is a kettle descaled with vinegar"


@pytest.fixture
def context(place: Place, repo: Path) -> ToolContext:
    (repo / "docs").mkdir()
    (repo / "docs/kettles.md").write_text(f"# Kettles\n\n{TEXT}\n")
    with (repo / ".agent-memory/config.yaml").open("a") as config:
        config.write("sources:\n  guide:\n    paths: [docs]\n")
    archive.run(
        place, "The kettle needs vinegar.", importance=5, tags=("kitchen",), origin=Origin()
    )
    return ToolContext(str(repo), Origin("agent", "claude", "s1"))


def search(context: ToolContext, **given: object) -> str:
    call = ToolCall("archival_memory_search", {"query": QUERY, "nearest": True, **given})
    return calls.run(context, registry.built_in(), call).text


def test_both_are_found_and_a_source_says_its_place(context: ToolContext) -> None:
    found = search(context)
    assert "showing 1-2 of 2 hits" in found
    assert "The kettle needs vinegar." in found
    assert ". docs/kettles.md:1, source guide: Kettles\n" in found.replace("md:3", "md:1")
    assert f"   {TEXT}" in found.replace("> ", "")
    assert found.count("Kettles\n") == 1


@pytest.mark.parametrize(
    ("given", "passage", "source"),
    [
        ({"sources": True}, False, True),
        ({"sources": False}, True, False),
        ({"tags": ["kitchen"]}, True, False),
        ({"min_importance": 3}, True, False),
        ({"sources": True, "tags": ["kitchen"]}, False, False),
    ],
)
def test_either_can_be_left_out(
    context: ToolContext, given: dict[str, object], passage: bool, source: bool
) -> None:
    found = search(context, **given)
    assert ("The kettle needs vinegar." in found) == passage
    assert (TEXT in found) == source
