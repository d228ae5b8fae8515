"""Asking git: what can be known without starting it."""

from __future__ import annotations

from pathlib import Path

from memfs.store import git
from memfs.store.blocks import Place


def test_a_folder_of_a_working_tree_is_inside(linked: Place, repo: Path, tmp_path: Path) -> None:
    (repo / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(repo / "a")
    assert linked.project
    for folder in (repo, repo / "a/b", repo / ".git", tmp_path / "link", Path(linked.project.root)):
        assert git.inside(str(folder)), folder
        assert (git.top_level(str(folder)) is None) == (folder == repo / ".git")
    assert git.head(str(repo)) == git.head(linked.project.root) != ""


def test_outside_of_one_nothing_is_known(repo: Path, home: Path) -> None:
    for folder in (home, repo.parent, home / "not-there"):
        assert not git.inside(str(folder))
        assert git.top_level(str(folder)) is None
        assert git.head(str(folder)) == ""
        assert git.dirty(str(folder)) is None
        assert git.ignored(str(folder / "file"))
