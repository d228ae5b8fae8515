"""The write protocol: journalled, atomic, recoverable, and aware of other editors."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.core.body_edits import Append, Create
from memfs.core.errors import StoreError
from memfs.core.records import Origin
from memfs.ops import edit, history, show, undo
from memfs.store import blocks, journal, lock
from memfs.store.blocks import Place
from tests.store.conftest import commit_all, git

ORIGIN = Origin()


def append(place: Place, text: str) -> None:
    assert isinstance(edit.run(place, [Append("human", text)], ORIGIN), edit.Edited)


def value(place: Place) -> str:
    return blocks.get(place, "human").value


def find_heads(place: Place, tier: str = "user") -> Path:
    return Path(place.store(tier).local, "heads.json")


def find_journal(place: Place) -> Path:
    return Path(place.store("user").journal)


def test_each_edit_counts_a_version_and_is_journalled(place: Place) -> None:
    append(place, "one")
    append(place, "two")
    entries = history.log(place, "human")
    assert [(entry.version, entry.op, entry.actor) for entry in entries] == [
        (3, "append", "user"),
        (2, "append", "user"),
        (1, "create", "system"),
    ]
    assert entries[0].before == entries[1].after
    assert show.run(place, "human").version == 3


def write_long_ago(path: Path, data: bytes) -> None:
    """Give a file what it held before, and the time it had then: as if nobody had written it."""
    path.write_bytes(data)
    os.utime(path, (1, 1))


def interrupted(place: Place, text: str) -> None:
    """Leave the store as a kill between journal and rename does."""
    path = Path(blocks.get(place, "human").path)
    heads = find_heads(place)
    before, known = path.read_bytes(), heads.read_bytes()
    append(place, text)
    write_long_ago(path, before)
    heads.write_bytes(known)


def test_an_edit_interrupted_before_the_rename_is_rolled_forward(place: Place) -> None:
    interrupted(place, "survives")
    assert value(place) == ""
    append(place, "next")
    assert value(place) == "survives\nnext"
    assert [entry.op for entry in history.log(place, "human")] == ["append", "append", "create"]


def test_an_edit_whose_file_was_written_but_not_noted_is_not_done_twice(place: Place) -> None:
    heads = find_heads(place)
    known = heads.read_bytes()
    append(place, "once")
    heads.write_bytes(known)
    append(place, "more")
    assert value(place) == "once\nmore"


def test_lost_heads_are_made_again(place: Place) -> None:
    append(place, "one")
    find_heads(place).unlink()
    append(place, "two")
    assert value(place) == "one\ntwo"
    assert show.run(place, "human").version == 3


def test_a_torn_last_line_was_never_acknowledged(place: Place) -> None:
    append(place, "one")
    with find_journal(place).open("ab") as handle:
        handle.write(b'{"id": "torn", "at": "2026')
    append(place, "two")
    assert place.user
    assert [entry.version for entry in history.log(place, "human")] == [3, 2, 1]
    assert not journal.find_damaged(place.user)


def test_a_damaged_line_costs_only_itself(place: Place) -> None:
    append(place, "one")
    path = find_journal(place)
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b"garbage\n" + second)
    assert place.user
    assert [entry.version for entry in journal.read(place.user)] == [1, 2]
    assert journal.find_damaged(place.user) == [2]


def test_an_editors_change_is_adopted(place: Place) -> None:
    append(place, "Name: Alice")
    path = Path(blocks.get(place, "human").path)
    path.write_text(path.read_text().replace("Alice", "Carol"))
    append(place, "Likes tea")
    entries = history.log(place, "human")
    assert [(entry.version, entry.op) for entry in entries] == [
        (4, "append"),
        (3, "adopt"),
        (2, "append"),
        (1, "create"),
    ]
    assert entries[1].reason == "changed outside memfs"
    assert "Carol" in (entries[1].after or "")
    assert value(place) == "Name: Carol\nLikes tea"


def test_a_block_put_back_by_git_is_not_corrected(repo: Path, place: Place) -> None:
    commit_all(repo)
    edit.run(place, [Append("persona", "changed")], ORIGIN)
    git(repo, "checkout", "-q", "--", ".")
    history.log(place)
    assert "changed" not in blocks.get(place, "persona").value
    assert [entry.op for entry in history.log(place, "persona")] == ["adopt", "append", "create"]


@pytest.mark.parametrize("heads", ["", "behind"])
def test_it_is_not_even_where_the_heads_are_lost(repo: Path, place: Place, heads: str) -> None:
    file = find_heads(place, "project")
    commit_all(repo)
    before = file.read_bytes()
    edit.run(place, [Append("persona", "changed")], ORIGIN)
    file.write_bytes(before) if heads else file.unlink()
    git(repo, "checkout", "-q", "--", ".")
    assert history.log(place, "persona")[0].op == "adopt"
    assert "changed" not in blocks.get(place, "persona").value


def test_a_deleted_file_is_noticed_and_can_be_undone(place: Place) -> None:
    append(place, "keep me")
    Path(blocks.get(place, "human").path).unlink()
    undone = undo.undo_edit(place, "human", ORIGIN)
    assert undone.undone.op == "adopt"
    assert value(place) == "keep me"


def test_half_a_patch_in_the_journal_does_not_count(place: Place) -> None:
    edits = [Create("a", "A"), Create("b", "B")]
    assert isinstance(edit.run(place, list(edits), ORIGIN), edit.Edited)
    assert place.project
    lines = Path(place.project.journal).read_bytes().splitlines(keepends=True)
    Path(place.project.journal).write_bytes(b"".join(lines[:-1]))
    assert {entry.label for entry in journal.read(place.project)} == {"persona", "system_rules"}


def test_an_edit_that_failed_is_not_done_later(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(place, "one")
    path = Path(blocks.get(place, "human").path)
    before = path.read_bytes()
    replace = os.replace

    def full(source: str, target: str, **beside: int) -> None:
        if target.endswith("human.md"):
            raise OSError(28, "No space left on device")
        replace(source, target, **beside)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        append(place, "lost")
    monkeypatch.setattr(os, "replace", replace)
    assert path.read_bytes() == before
    append(place, "two")
    assert value(place) == "one\ntwo"
    assert [entry.version for entry in history.log(place, "human")] == [3, 2, 1]


def test_a_carriage_return_in_a_damaged_line_costs_only_that_line(place: Place) -> None:
    for text in ("one", "two", "three"):
        append(place, text)
    path = find_journal(place)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1][:50] + b"\r" + lines[1][51:]
    path.write_bytes(b"".join(lines))
    find_heads(place).unlink()
    append(place, "four")
    assert [entry.version for entry in journal.read(place.store("user"))] == [1, 3, 4, 5]


def test_an_edit_interrupted_in_a_linked_worktree_is_rolled_forward_from_the_main_one(
    place: Place, linked: Place
) -> None:
    heads = find_heads(place, "project")
    path = Path(blocks.get(linked, "persona").path)
    before, known = path.read_bytes(), heads.read_bytes()
    edit.run(linked, [Append("persona", "in linked")], ORIGIN)
    write_long_ago(path, before)
    heads.write_bytes(known)
    edit.run(place, [Append("persona", "in main")], ORIGIN)
    assert blocks.get(linked, "persona").value.endswith("in linked")


def test_a_held_lock_is_explained_and_not_waited_on_for_ever(place: Place) -> None:
    assert place.project
    with lock.hold_lock(place.project):
        with pytest.raises(StoreError, match=r"the store is locked by process \d+") as caught:
            with lock.hold_lock(place.project, wait=0.05):
                pass
    assert place.project.local in caught.value.hint


def test_the_lock_of_a_dead_process_is_free(place: Place) -> None:
    assert place.project
    code = (
        "import os, sys; from memfs.store import lock, store_paths\n"
        "with lock.hold_lock(store_paths.Store(sys.argv[1], 'project')): os._exit(9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, place.project.root], check=False)
    assert done.returncode == 9
    with lock.hold_lock(place.project, wait=0.05):
        pass


def test_writers_in_several_processes_lose_nothing(place: Place, repo: Path) -> None:
    code = (
        "import sys; from memfs.store import blocks; from memfs.ops import edit\n"
        "from memfs.core.body_edits import Append; from memfs.core.records import Origin\n"
        "place = blocks.find_place('.')\n"
        "for n in range(10): edit.run(place, [Append('human', f'{sys.argv[1]}-{n}')], Origin())\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(number)], cwd=repo) for number in range(3)
    ]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert sorted(value(place).split("\n")) == sorted(
        f"{who}-{n}" for who in range(3) for n in range(10)
    )
    assert sorted(entry.version for entry in history.log(place, "human")) == list(range(1, 32))


def test_the_journal_keeps_bytes_that_are_no_text(
    place: Place, block_file: Callable[[str, str], Path]
) -> None:
    path = block_file("odd", "")
    path.write_bytes(b"caf\xe9 \x00 \xff\xfe")
    assert isinstance(edit.run(place, [Append("odd", "ascii")], ORIGIN), edit.Edited)
    assert path.read_bytes().endswith(b"caf\xe9 \x00 \xff\xfe\nascii")
    undo.undo_edit(place, "odd", ORIGIN)
    assert path.read_bytes() == b"caf\xe9 \x00 \xff\xfe"


def test_journal_lines_have_the_documented_keys(place: Place) -> None:
    line = find_journal(place).read_text().splitlines()[0]
    keys = "id at actor host session tier label op reason version before after"
    assert list(json.loads(line)) == keys.split()
