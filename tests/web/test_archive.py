"""The archive in the page: passages, reference texts, and imports that are taken back."""

from pathlib import Path

from memfs.knowledge.kinds import static
from memfs.ops import archive
from memfs.store import archive as archive_store
from memfs.store.blocks import Place
from tests.importers.importing import import_path
from tests.importers.samples import make_claude_mem
from tests.ops.imports import BY
from tests.ops.test_purge import SECRET
from tests.web.conftest import Client


def keep(place: Place, text: str, *tags: str, user: bool = False) -> str:
    return archive.run(place, text, importance=5, tags=tags, origin=BY, user=user).id


def test_passages_are_filtered_by_words_tag_and_owner(page: Client, place: Place) -> None:
    keep(place, "The gateway locks.", "ops")
    keep(place, "Ana likes tea.", "home", user=True)
    assert "2 passages" in page.get("archive").words
    assert "tea" not in page.get("archive?q=gateway").words
    assert "gateway" not in page.get("archive?tag=home").words.partition("Add a passage")[0]
    assert "1 passage" in page.get("archive?tier=user").words
    archive_store.write_passage(place.home, "A gate.", importance=5, tags=(), source="mem0: 1")
    only = page.get("archive?source=MEM0")
    assert "1 passage" in only.words
    assert "from mem0: 1" in only.words
    assert "matches this filter" in page.get("archive?q=nothing+of+it").words


def test_many_passages_come_in_pages(page: Client, place: Place) -> None:
    for number in range(60):
        keep(place, f"Passage number {number}.")
    first, second = page.get("archive?q=number"), page.get("archive?page=99&q=number")
    assert "page 1 of 2" in first.words
    assert '?page=2&amp;q=number"' in first.text
    assert "page 2 of 2" in second.words
    assert first.text.count("</mark> 1") + second.text.count("</mark> 1") == 11


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
        ({"importance": "much"}, "expected a number from 1 to 10"),
        ({"text": f"key {SECRET}"}, "secret"),
        ({"text": ""}, "empty"),
    ):
        answer = page.do(f"archive/{ident}", {**form, **wrong})
        assert (answer.status, why in answer.words) == (400, True)
    assert "removed the passage" in page.do(f"archive/{ident}/remove").words
    assert not archive.list_passages(place)
    assert page.get(f"archive/{ident}").status == 404


def test_something_is_kept(page: Client, place: Place) -> None:
    form = {"text": "A new passage.", "tags": "ops"}
    assert "the passage is stored" in page.do("archive", form).words
    assert "already in the archive" in page.do("archive", form).words
    assert len(archive.list_passages(place)) == 1


def test_an_import_is_taken_back(page: Client, place: Place, tmp_path: Path) -> None:
    import_path(place, make_claude_mem(tmp_path))
    shown = page.get("archive")
    assert "from claude-mem: observation 1 of repo" in shown.words
    ident = shown.text.partition("/archive/imports/")[2].partition("/")[0]
    answer = page.do(f"archive/imports/{ident}/undo")
    assert "; removed 2 passages, 1 message, 1 session" in answer.words
    assert not archive.list_passages(place)


def test_a_passage_that_is_changed_is_read_again(page: Client, place: Place) -> None:
    ident = keep(place, "The gateway locks.")
    assert "locks" in page.get("archive").words
    path = Path(archive.find_passage(place, ident).path)
    path.write_text(path.read_text().replace("locks", "waits"))
    assert "waits" in page.get("archive").words
    path.unlink()
    assert "0 passages" in page.get("archive").words


def test_what_was_changed_since_an_import_stays_and_is_named(
    page: Client, place: Place, tmp_path: Path
) -> None:
    import_path(place, make_claude_mem(tmp_path))
    first, _ = archive.list_passages(place)
    archive.edit(place, first.passage.id, BY, text="In other words.")
    ident = page.get("archive").text.partition("/archive/imports/")[2].partition("/")[0]
    words = page.do(f"archive/imports/{ident}/undo").words
    assert f"{first.passage.id}.md&#39;: it was changed after the import" in words
    assert "; removed 1 passage, 1 message" in words
    assert "/archive/imports/" not in page.get("archive").text
    assert page.do(f"archive/imports/{ident}/undo").status == 404


def test_reference_texts_are_shown_and_removed_each_from_its_store(
    page: Client, place: Place
) -> None:
    static.put(place, "style/py", "Use four spaces.", category="style")
    static.put(place, "style/py", "Use tabs.", user=True)
    listed = page.get("archive")
    assert "style/py" in listed.words
    assert "/archive/static/style/py?tier=user" in listed.text
    assert "Use four spaces." in page.get("archive/static/style/py").words
    assert "Use tabs." in page.get("archive/static/style/py?tier=user").words
    assert (
        "removed the reference text" in page.do("archive/static/style/py", {"tier": "user"}).words
    )
    assert [each.tier for each in static.find(place)] == ["project"]
    assert page.do("archive/static/style/py", {"tier": "user"}).status == 404
    assert page.get("archive/static/other").status == 404
