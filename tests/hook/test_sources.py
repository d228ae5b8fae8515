"""A prompt hook by itself asks the indexes of data sources, and stays light."""

from __future__ import annotations

from pathlib import Path

from memfs.recall import source_index
from memfs.store import data_sources
from memfs.store.blocks import Place
from tests.test_house import HEAVY, imported


def test_a_prompt_that_is_looked_up_in_a_source_imports_nothing_heavy(
    place: Place, repo: Path
) -> None:
    (repo / "docs").mkdir()
    (repo / "docs/gophers.md").write_text(
        "# Gophers\n\nGophers dig tunnels below the meadow, as deep as two metres.\n"
    )
    with (repo / ".agent-memory/config.yaml").open("a") as config:
        config.write("sources:\n  guide:\n    paths: [docs]\n")
    (source,) = data_sources.list_sources(place)
    assert source_index.sync(place, source, embed=False)
    imported(repo, "the first prompt brings the whole brief")
    found = imported(repo, "where do gophers dig tunnels below the meadow?")
    assert {"memfs.recall.item_recall", "memfs.context.brief_contents"} <= found
    assert not found & HEAVY
    assert "memfs.recall.source_index" not in found
