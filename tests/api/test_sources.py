"""Data sources in Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import memfs
from memfs.store.blocks import Place


def test_one_is_added_synced_and_removed(place: Place, repo: Path) -> None:
    (repo / "docs").mkdir()
    (repo / "docs/a.md").write_text("gophers dig\n")
    with memfs.open(repo) as memory:
        added = memory.add_source("docs", repo / "docs", globs=["*.md"])
        assert added.source.globs == ("*.md",)
        assert added.state == memory.sources()[0].state
        (repo / "docs/b.md").write_text("herons fish\n")
        [found] = memory.sync_sources("docs")
        assert found.state
        assert found.state.files == 2
        memory.remove_source("docs")
        assert memory.sources() == []
        with pytest.raises(memfs.NotFoundError):
            memory.sync_sources("docs")
