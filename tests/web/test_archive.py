"""The archive in the page: passages, reference texts, and imports that are taken back."""

from __future__ import annotations

from pathlib import Path

from memfs.ops import archive
from memfs.store.blocks import Place
from tests.ingest.importers.importing import import_path
from tests.ingest.importers.samples import make_claude_mem
from tests.ops.imports import BY
from tests.ops.test_purge import SECRET
from tests.web.conftest import Client

SCRIPT = "<script>alert(1)</script>"


def keep(place: Place, text: str, *tags: str, user: bool = False) -> str:
    return archive.run(place, text, importance=5, tags=tags, origin=BY, user=user).id


def test_passages_are_filtered_by_words_tag_and_owner(page: Client, place: Place) -> None:
    keep(place, "The gateway locks.", "ops")
    keep(place, "Ana likes tea.", "home", user=True)
    assert "2 passages" in page.get("archive").words
    assert "tea" not in page.get("archive?q=gateway").words
    assert "gateway" not in page.get("archive?tag=home").words.partition("Keep something")[0]
    assert "1 passage" in page.get("archive?tier=user").words
    assert "passes this filter" in page.get("archive?q=nothing+of+it").words


def test_many_passages_come_in_pages(page: Client, place: Place) -> None:
    for number in range(60):
        keep(place, f"Passage number {number}.")
    assert "page 1 of 2" in page.get("archive").words
    assert "page 2 of 2" in page.get("archive?page=99").words


def test_a_passage_is_changed_and_removed(page: Client, place: Place) -> None:
    ident = keep(place, "The gateway locks.", "ops")
    form = {"text": "The gateway waits.", "tags": "ops, gate way", "importance": "8"}
    assert "the passage is saved" in page.do(f"archive/{ident}", form).words
    found = archive.find_passage(place, ident).passage
    assert (found.text, found.tags, found.importance) == (
        "The gateway waits.",
        ("ops", "gate way"),
        8,
    )
    for wrong, why in (
        ({"importance": "11"}, "expected 1 to 10"),
        ({"importance": "much"}, "expected 1 to 10"),
        ({"text": f"key {SECRET}"}, "secret"),
        ({"text": ""}, "empty"),
    ):
        answer = page.do(f"archive/{ident}", {**form, **wrong})
        assert (answer.status, why in answer.words) == (400, True)
    assert "is removed" in page.do(f"archive/{ident}/remove").words
    assert not archive.list_passages(place)
    assert page.get(f"archive/{ident}").status == 404


def test_something_is_kept(page: Client, place: Place) -> None:
    form = {"text": "A new passage.", "tags": "ops"}
    assert "it is kept" in page.do("archive", form).words
    assert "in the archive already" in page.do("archive", form).words
    assert len(archive.list_passages(place)) == 1


def test_an_import_is_taken_back(page: Client, place: Place, tmp_path: Path) -> None:
    import_path(place, make_claude_mem(tmp_path))
    shown = page.get("archive")
    assert "from claude-mem: observation 1 of repo" in shown.words
    ident = shown.text.partition("/archive/imports/")[2].partition("/")[0]
    answer = page.do(f"archive/imports/{ident}/undo")
    assert "is taken back: 2 passage, 1 message, 1 session removed" in answer.words
    assert not archive.list_passages(place)


def test_hostile_passages_are_text(page: Client, place: Place) -> None:
    ident = keep(place, f"{SCRIPT} <img src=x onerror=a>", "<b>")
    for path in ("archive", f"archive/{ident}", "archive?tag=%3Cb%3E", f"archive?q={SCRIPT}"):
        answer = page.get(path)
        assert answer.status == 200
        assert "<script>alert" not in answer.text
        assert "<img src=x" not in answer.text


def test_a_page_that_only_reads_has_no_forms(read_only: Client, place: Place) -> None:
    ident = keep(place, "The gateway locks.")
    assert '<form method="post"' not in read_only.get(f"archive/{ident}").text
    assert '<form method="post"' not in read_only.get("archive").text
