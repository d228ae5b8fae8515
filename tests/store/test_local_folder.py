"""Whose a store's `local/` is: what memfs made here is kept, what came is put aside, no word is lost."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from memfs.core.body_edits import Append
from memfs.core.records import Origin
from memfs.ops import edit, history
from memfs.store import blocks, local_folder, store_paths
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from tests.terminal import type_into


def project(place: Place) -> Store:
    assert place.project
    return place.project


def remember(place: Place) -> None:
    assert isinstance(edit.run(place, [Append("system_rules", "mine")], Origin()), edit.Edited)


def test_what_was_made_here_is_ours_and_stays(place: Place, repo: Path) -> None:
    assert local_folder.is_ours(project(place))
    assert blocks.find_place(str(repo)).aside == ""
    token = Path(project(place).local, "token").read_text()
    local_folder.make(project(place))
    assert Path(project(place).local, "token").read_text() == token


def test_a_project_that_was_moved_keeps_it_and_a_copy_does_not(
    place: Place, repo: Path, tmp_path: Path
) -> None:
    remember(place)
    shutil.copytree(repo, tmp_path / "copy")
    there = blocks.find_place(str(tmp_path / "copy"))
    assert Path(there.aside, "journal.jsonl").exists()
    assert blocks.find_place(str(repo)).aside == ""
    repo.rename(tmp_path / "moved")
    moved = blocks.find_place(str(tmp_path / "moved"))
    assert moved.aside == ""
    assert [each.op for each in history.log(moved, "system_rules")] == ["append", "create"]


def test_a_token_of_nobody_is_none(place: Place, repo: Path) -> None:
    for token in ("0" * 32, "../../../../x", "", "x" * 100_000):
        Path(project(place).local, "token").write_text(token)
        found = blocks.find_place(str(repo))
        assert found.aside
        assert local_folder.is_ours(project(found))


def test_it_is_taken_back_by_who_knows_that_it_is_theirs(
    place: Place, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container was made anew: the project's folder is there, the user's is not."""
    remember(place)
    (tmp_path / "new").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "new"))
    command = [sys.executable, "-m", "memfs"]
    _, shown = type_into([*command, "log", "system_rules"], "", repo)
    assert "memfs trust --local" in " ".join(shown.split())
    assert "append" not in shown
    code, shown = type_into([*command, "trust", "--local"], "", repo)
    assert code == 0, shown
    _, shown = type_into([*command, "log", "system_rules"], "", repo)
    assert "append" in shown
    assert not store_paths.is_trusted(project(blocks.find_place(str(repo))))
    _, shown = type_into([*command, "trust", "--local"], "", repo)
    _, shown = type_into([*command, "trust", "--local"], "", repo)
    _, shown = type_into([*command, "log", "system_rules"], "", repo)
    assert "append" in shown, "there and back again"


def test_nothing_that_was_put_aside_is_nothing_to_take_back(place: Place) -> None:
    assert local_folder.take_back(project(place)) == ""
