"""Models search data sources with the archive."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.core.records import Origin
from memfs.ops import archive
from memfs.store.blocks import Place
from tests.tools.conftest import Do

TEXT = "A kettle is descaled with vinegar, once a month."
Search = Callable[..., str]
QUERY = "how is a kettle descaled with vinegar"


@pytest.fixture
def search(place: Place, repo: Path, do: Do) -> Search:
    (repo / "docs").mkdir()
    (repo / "docs/kettles.md").write_text(f"# Kettles\n\n{TEXT}\n")
    with (repo / ".agent-memory/config.yaml").open("a") as config:
        config.write("sources:\n  guide:\n    paths: [docs]\n")
    archive.run(
        place, "The kettle needs vinegar.", importance=5, tags=("kitchen",), origin=Origin()
    )
    return lambda **given: do("archival_memory_search", query=QUERY, nearest=True, **given).text


def test_both_are_found_and_a_source_says_its_place(search: Search) -> None:
    found = search()
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
    search: Search, given: dict[str, object], passage: bool, source: bool
) -> None:
    found = search(**given)
    assert ("The kettle needs vinegar." in found) == passage
    assert (TEXT in found) == source
