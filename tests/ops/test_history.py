from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.body_edits import Append, Create, Remove, Rename, Replace, Rethink
from memfs.core.errors import NotFoundError, RejectedError
from memfs.core.records import Origin
from memfs.ops import edit, history, show, undo
from memfs.store import blocks
from memfs.store.blocks import Place
from tests.examples import examples

Write = Callable[[str, str], Path]
ORIGIN = Origin()


def append(place: Place, *texts: str) -> None:
    for text in texts:
        assert isinstance(edit.run(place, [Append("human", text)], ORIGIN), edit.Edited)


def data(place: Place) -> bytes:
    return Path(blocks.get(place, "human").path).read_bytes()


def test_undo_goes_back_step_by_step_and_forward_again(place: Place) -> None:
    append(place, "one")
    first = data(place)
    append(place, "two")
    second = data(place)
    append(place, "three")
    undo.undo_edit(place, "human", ORIGIN)
    assert data(place) == second
    undo.undo_edit(place, "human", ORIGIN)
    assert data(place) == first
    append(place, "other")
    undo.undo_edit(place, "human", ORIGIN)
    assert data(place) == first
    undo.undo_edit(place, "human", ORIGIN)
    assert blocks.get(place, "human").value == ""
    with pytest.raises(NotFoundError, match="there is nothing to undo in 'human'"):
        undo.undo_edit(place, "human", ORIGIN)
    versions = [entry.version for entry in history.log(place, "human")]
    assert versions == sorted(versions, reverse=True)
    assert len(set(versions)) == len(versions), "no version is used twice"


def test_every_version_can_be_shown(place: Place) -> None:
    append(place, "one", "two")
    assert show.run(place, "human", "1").block.value == ""
    assert show.run(place, "human", "2").block.value == "one"
    assert show.run(place, "human", "3").block.value == "one\ntwo"
    with pytest.raises(NotFoundError, match="'human' has no version 9") as caught:
        show.run(place, "human", "9")
    assert caught.value.hint == "choose a known version: 1-3"


def test_versions_count_back_from_the_newest(place: Place) -> None:
    append(place, "one", "two")
    assert [show.run(place, "human", version).version for version in ("-1", "-2")] == [2, 1]
    assert show.run(place, "human", "-1").block.value == "one"
    found = history.diff(place, "human", "-2", "-1")
    assert (found.old, found.new) == ("1", "2")
    assert history.diff(place, "human", "-1").text == history.diff(place, "human").text
    [entry] = undo.restore_version(place, "human", "-1", ORIGIN).entries
    assert (entry.reason, blocks.get(place, "human").value) == ("version 2", "one")
    for version in ("-4", "-9"):
        with pytest.raises(NotFoundError, match=f"no version {version}: the oldest is -3"):
            show.run(place, "human", version)
    with pytest.raises(NotFoundError, match="no version -1: the block was never changed"):
        show.run(place, "persona", "-1")


def test_the_version_before_the_journal_began_counts(place: Place, block_file: Write) -> None:
    block_file("rules", "one\n")
    edit.run(place, [Append("rules", "two")], ORIGIN)
    assert show.run(place, "rules", "-1").block.value == "one"
    with pytest.raises(NotFoundError, match="no version -2: the oldest is -1"):
        show.run(place, "rules", "-2")
    undo.undo_edit(place, "rules", ORIGIN)
    edit.run(place, [Rename("rules", "laws")], ORIGIN)
    assert show.run(place, "laws", "-2").block.value == "one\ntwo"
    assert show.run(place, "laws", "-3").block.value == "one"


def test_restore_is_a_new_version(place: Place) -> None:
    append(place, "one", "two")
    [entry] = undo.restore_version(place, "human", "2", ORIGIN).entries
    block = blocks.get(place, "human")
    assert (block.value, entry.version) == ("one", 4)
    assert undo.restore_version(place, "human", "2", ORIGIN).entries == ()


def test_restore_brings_a_deleted_block_back(place: Place) -> None:
    append(place, "one")
    Path(blocks.get(place, "human").path).unlink()
    undo.restore_version(place, "human", "2", ORIGIN)
    assert blocks.get(place, "human").value == "one"


def test_diff_leaves_the_managed_keys_out(place: Place) -> None:
    append(place, "one", "two")
    narrow = history.diff(place, "human").text.splitlines()
    assert [each for each in narrow if each[:1] in "+-"] == ["--- human@2", "+++ human@3", "+two"]
    wide = history.diff(place, "human", "1", "3").text.splitlines()
    assert [line for line in wide if line[:1] in "+-"][2:] == ["+one", "+two"]
    assert history.diff(place, "human", "3", "3").text == ""


def test_diff_of_a_creation_shows_the_whole_block(place: Place) -> None:
    found = history.diff(place, "persona")
    assert (found.old, found.new) == ("0", "1")
    assert "+I am this project's coding assistant" in found.text


def test_a_log_of_everything_is_newest_first(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMFS_NOW", "2026-05-04T10:00:00Z")
    append(place, "later")
    entries = history.log(place)
    assert entries[0].label == "human"
    assert {entry.label for entry in entries} == {"human", "persona", "system_rules"}
    assert len(history.log(place, limit=2)) == 2


def test_read_only_holds_for_undo_and_restore(place: Place, block_file: Write) -> None:
    path = block_file("rules", "one\n")
    edit.run(place, [Append("rules", "two")], ORIGIN)
    text = f"---\nread_only: true\n---\n{path.read_text()}"
    path.write_text(text)
    for wanted in (
        lambda: undo.undo_edit(place, "rules", ORIGIN),
        lambda: undo.restore_version(place, "rules", "2", ORIGIN),
    ):
        with pytest.raises(RejectedError, match="'rules': the block is read-only"):
            wanted()
    assert path.read_text() == text


def test_undoing_a_rename_does_not_cost_a_newer_block(place: Place) -> None:
    edit.run(place, [Create("a", "A", "old")], ORIGIN)
    edit.run(place, [Rename("a", "b")], ORIGIN)
    edit.run(place, [Create("a", "A", "new")], ORIGIN)
    with pytest.raises(RejectedError, match="a newer block is named 'a'"):
        undo.undo_edit(place, "b", ORIGIN)
    assert (blocks.get(place, "a").value, blocks.get(place, "b").value) == ("new", "old")


LINES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


@examples(40)
@given(body=st.text(max_size=200), texts=st.lists(LINES, min_size=1, max_size=4))
def test_undoing_every_edit_gives_the_bytes_back(
    place: Place, block_file: Write, body: str, texts: list[str]
) -> None:
    label = f"b{abs(hash((body, *texts))) % 10**9}"
    raw = body.encode("utf-8", "replace")
    path = block_file(label, "")
    path.write_bytes(raw)
    done = 0
    for text in texts:
        for wanted in (
            Append(label, text),
            Replace(label, text, "x"),
            Remove(label, text),
            Rethink(label, text),
        ):
            done += isinstance(edit.run(place, [wanted], ORIGIN), edit.Edited)
    for _ in range(done):
        undo.undo_edit(place, label, ORIGIN)
    assert path.read_bytes() == raw
    path.unlink()
