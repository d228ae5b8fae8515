"""The history of a block that was renamed, and of those that have its labels before and after."""

import subprocess
from pathlib import Path

import pytest

from memfs.core.body_edits import Append, Create, Delete, Edit, Rename
from memfs.core.errors import NotFoundError
from memfs.core.records import Origin
from memfs.ops import edit, history, show, undo
from memfs.store import blocks
from memfs.store.blocks import Place

ORIGIN = Origin("agent", "claude")
Line = tuple[int, str, str, str]


def git(repo: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=repo, check=True, capture_output=True, text=True
    ).stdout


def run(place: Place, *requested: Edit) -> None:
    for each in requested:
        assert isinstance(edit.run(place, [each], ORIGIN), edit.Edited)


def log(place: Place, label: str) -> list[Line]:
    found = history.log(place, label)
    return [(entry.version, entry.label, entry.op, entry.reason) for entry in found]


@pytest.fixture
def renamed(place: Place) -> Place:
    """A block that was edited as `old`, and then as `new`."""
    run(place, Create("old", "A", "one"), Append("old", "two"))
    run(place, Rename("old", "new"), Append("new", "three"))
    return place


def test_the_log_says_where_the_label_changed(renamed: Place) -> None:
    assert log(renamed, "new") == [
        (4, "new", "append", ""),
        (3, "new", "rename", "from old"),
        (2, "old", "append", ""),
        (1, "old", "create", ""),
    ]
    assert [entry.version for entry in history.log(renamed, "new", 3)] == [4, 3, 2]


def test_versions_under_an_earlier_label_can_be_shown_compared_and_restored(renamed: Place) -> None:
    assert show.run(renamed, "new", "1").block.value == "one"
    assert show.run(renamed, "new", "3").block.value == "one\ntwo"
    text = history.diff(renamed, "new", "1", "4").text
    assert [line for line in text.splitlines() if line[:1] in "+-"][2:] == ["+two", "+three"]
    [entry] = undo.restore_version(renamed, "new", "2", ORIGIN).entries
    assert (entry.label, entry.version) == ("new", 5)
    assert blocks.get(renamed, "new").value == "one\ntwo"
    assert undo.restore_version(renamed, "new", "3", ORIGIN).entries == ()


def test_blame_names_who_wrote_a_line_under_an_earlier_label(renamed: Place) -> None:
    lines = history.blame(renamed, "new")
    found = [(each.text, each.source.version, each.source.label) for each in lines if each.source]
    assert found == [("one", 1, "old"), ("two", 2, "old"), ("three", 4, "new")]


def test_a_block_under_the_earlier_label_is_another_one(renamed: Place) -> None:
    assert [line[0] for line in log(renamed, "old")] == [3, 2, 1]
    run(renamed, Create("old", "B", "other"), Append("old", "more"))
    assert log(renamed, "old") == [(5, "old", "append", ""), (4, "old", "create", "")]
    assert [line[1] for line in log(renamed, "new")] == ["new", "new", "old", "old"]
    with pytest.raises(NotFoundError, match="'old' has no version 1") as caught:
        show.run(renamed, "old", "1")
    assert caught.value.hint == "choose a known version: 4-5"


def test_a_block_that_had_the_new_label_before_is_another_one(place: Place) -> None:
    run(place, Create("new", "B", "gone"), Append("new", "too"), Delete("new"))
    run(place, Create("old", "A", "one"), Rename("old", "new"))
    assert log(place, "new") == [(4, "new", "rename", "from old"), (1, "old", "create", "")]
    assert show.run(place, "new", "1").block.value == "one"


def test_a_block_that_comes_back_to_its_label_keeps_its_history(renamed: Place) -> None:
    run(renamed, Rename("new", "old"))
    assert log(renamed, "old") == [
        (5, "old", "rename", "from new"),
        (4, "new", "append", ""),
        (3, "new", "rename", "from old"),
        (2, "old", "append", ""),
        (1, "old", "create", ""),
    ]


def test_an_undone_rename_is_one_back(place: Place) -> None:
    run(place, Create("old", "A", "one"), Rename("old", "new"), Append("new", "two"))
    undo.undo_edit(place, "new", ORIGIN)
    undo.undo_edit(place, "new", ORIGIN)
    steps = [f"{number} {label} {op}" for number, label, op, _ in log(place, "old")]
    assert steps == ["5 old undo", "4 new undo", "3 new append", "2 new rename", "1 old create"]
    assert show.run(place, "old", "3").block.value == "one\ntwo"
    run(place, Create("new", "B", "other"))
    assert [line[2] for line in log(place, "new")] == ["create"]


def test_two_blocks_that_take_turns_with_a_label_do_not_mix(place: Place) -> None:
    run(place, Create("a", "A", "of a"), Rename("a", "b"), Create("c", "C", "of c"))
    run(place, Rename("c", "a"), Rename("b", "d"), Rename("a", "b"), Append("b", "more"))
    steps = [" ".join(line[1:3]) for line in log(place, "b")]
    assert steps == ["b append", "b rename", "a rename", "c create"]
    steps = [" ".join(line[1:3]) for line in log(place, "d")]
    assert steps == ["d rename", "b rename", "a create"]
    assert {line.source.label for line in history.blame(place, "d") if line.source} == {"a"}


def test_blocks_that_swap_labels_in_one_edit_take_their_history_along(place: Place) -> None:
    run(place, Create("a", "A", "of a"), Create("b", "B", "of b"), Append("b", "more"))
    swap: list[Edit] = [Rename("a", "t"), Rename("b", "a"), Append("a", "now a"), Rename("t", "b")]
    assert isinstance(edit.run(place, swap, ORIGIN), edit.Edited)
    assert log(place, "a") == [
        (3, "a", "rename", "from b"),
        (2, "b", "append", ""),
        (1, "b", "create", ""),
    ]
    assert log(place, "b") == [(3, "b", "rename", "from a"), (1, "a", "create", "")]
    assert "+now a" in history.diff(place, "a").text
    undo.undo_edit(place, "a", ORIGIN)
    assert (blocks.get(place, "a").value, blocks.get(place, "b").value) == ("of a", "of b\nmore")
    assert [line[1] for line in log(place, "a")] == ["a", "b", "a"]


def test_undoing_a_rename_takes_only_its_own_sides_along(place: Place) -> None:
    run(place, Create("a", "A", "of a"), Create("ab", "AB", "of ab"))
    both: list[Edit] = [Rename("ab", "x"), Rename("a", "y"), Append("y", "more")]
    assert isinstance(edit.run(place, both, ORIGIN), edit.Edited)
    undo.undo_edit(place, "x", ORIGIN)
    assert (blocks.get(place, "ab").value, blocks.get(place, "y").value) == ("of ab", "of a\nmore")
    undo.undo_edit(place, "y", ORIGIN)
    assert blocks.get(place, "a").value == "of a"


def test_a_reason_that_sounds_like_a_rename_is_none(place: Place) -> None:
    said = Origin("agent", reason="from persona: a rule")
    run(place, Create("a", "A", "text"), Rename("a", "b"))
    edit.run(place, [Append("b", "x"), Append("persona", "y")], said)
    edit.run(place, [Rename("b", "c")], Origin("agent", reason="from: here"))
    assert [line[1:] for line in log(place, "c")] == [
        ("c", "rename", "from b: from: here"),
        ("b", "append", "from persona: a rule"),
        ("b", "rename", "from a"),
        ("a", "create", ""),
    ]


def test_commits_are_of_the_block_that_had_the_label_then(
    renamed: Place, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def commit(subject: str, at: str) -> str:
        monkeypatch.setenv("MEMFS_NOW", at)
        for role in ("AUTHOR", "COMMITTER"):
            monkeypatch.setenv(f"GIT_{role}_DATE", at)
        git(repo, "add", "-A")
        git(repo, "commit", "-qm", subject)
        return git(repo, "rev-parse", "HEAD").strip()

    place = renamed
    run(place, Rename("new", "a"))
    commit("as a", "2026-05-04T10:00:00Z")
    path = repo / ".agent-memory/blocks/a.md"
    path.write_text(path.read_text() + "by hand\n")
    first = commit("by hand", "2026-05-05T10:00:00Z")
    path.write_text(path.read_text() + "and again\n")
    commit("again", "2026-05-06T10:00:00Z")
    run(place, Rename("a", "b"))
    commit("as b", "2026-05-07T10:00:00Z")
    run(place, Create("a", "A", "other"))
    last = commit("another a", "2026-05-08T10:00:00Z")
    assert [(line[1], line[2], line[3]) for line in log(place, "b")][:3] == [
        ("b", "rename", "from a"),
        ("a", "adopt", f"commit {git(repo, 'rev-parse', 'HEAD~2')[:7]}: again"),
        ("a", "commit", "by hand"),
    ]
    assert [line[2] for line in log(place, "a")] == ["create"]
    assert show.run(place, "b", first[:9]).block.value.endswith("three\nby hand")
    assert show.run(place, "b", last).block.value.endswith("and again")
    assert show.run(place, "a", last).block.value == "other"
    with pytest.raises(NotFoundError, match="'a' has no version or commit"):
        show.run(place, "a", first)


def test_a_checkout_from_before_the_rename_brings_the_block_back(place: Place, repo: Path) -> None:
    run(place, Create("old", "A", "one"))
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "store")
    git(repo, "checkout", "-qb", "side")
    run(place, Rename("old", "new"))
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "renamed")
    git(repo, "checkout", "-q", "main")
    assert [line[2] for line in log(place, "old")] == ["adopt", "rename", "create"]
    git(repo, "checkout", "-q", "side")
    assert [line[1] for line in log(place, "new")] == ["new", "old"]
