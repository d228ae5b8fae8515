"""Data sources in the page: added, shown with what is left out, searched, removed."""

from pathlib import Path

import pytest

from memfs.ops import source
from memfs.store.blocks import Place
from tests.web.conftest import Client

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def docs(repo: Path) -> Path:
    """A folder of documents in the project, with one file that is none."""
    folder = repo / "docs"
    folder.mkdir()
    (folder / "gateway.md").write_text(f"# Gateway\n\n## Locks\n\nHeld 5 s. {SCRIPT}\n")
    (folder / "logo.png").write_bytes(b"\x89PNG\0")
    return folder


def test_a_source_is_added_searched_and_removed(page: Client, place: Place, docs: Path) -> None:
    assert "memfs source add" in page.get("sources").words
    form = {"name": "docs", "paths": str(docs), "tier": "project"}
    answer = page.do("sources", form)
    assert "added the source" in answer.words
    assert "1 file in 1 chunk" in answer.words
    assert "binary" in answer.words
    hits = page.get("search?q=gateway+locks&in=sources")
    assert "docs/gateway.md:" in hits.words
    assert "Gateway" in hits.words
    assert "Locks" in hits.words
    assert "<script>alert" not in hits.text
    (docs / "more.md").write_text("# More\n\nText.\n")
    assert "indexed 2 files from the source" in page.do("sources/docs/sync").words
    assert "removed the source" in page.do("sources/docs/remove").words
    assert source.list_sources(place) == ([], [])
    assert (docs / "gateway.md").exists()


def test_refusals_are_those_of_the_command(page: Client, place: Place, docs: Path) -> None:
    for form, why in (
        ({"name": "docs", "paths": ""}, "no folder or file was given"),
        ({"name": "docs", "paths": "'open"}, "cannot be read"),
        ({"name": "../x", "paths": str(docs)}, "cannot be the name of a source"),
        ({"name": "out", "paths": "/etc"}, "outside of the project"),
    ):
        answer = page.do("sources", form)
        assert answer.status == 400
        assert why in answer.words
    assert page.get("sources/nothing").status == 404
