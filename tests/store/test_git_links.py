"""git writes into the repository's own folder, or not at all."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.core.body_edits import Append
from memfs.core.errors import StoreError
from memfs.core.records import Origin
from memfs.ops import edit, init
from memfs.store import blocks, git, proposals
from memfs.sync import githook
from tests.store.conftest import git as git_run

PARTS = (
    "HEAD",
    "config",
    "index",
    "logs",
    "logs/HEAD",
    "logs/refs/heads/work",
    "refs",
    "refs/heads",
    "refs/heads/work",
    "objects",
    "objects/pack",
    "objects/info",
    "objects/00",
    "packed-refs",
    "worktrees",
    "worktrees/other",
    "ORIG_HEAD",
    "config.worktree",
    "fast_import_crash_1",
)


def change(folder: Path) -> str:
    origin = Origin("agent", "claude", "s", "why")
    outcome = edit.run(blocks.find_place(str(folder)), [Append("persona", "x")], origin)
    assert isinstance(outcome, edit.Edited)
    return outcome.note


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_written_through_a_link(work: Path, tmp_path: Path, part: str) -> None:
    path, victim = work / ".git" / part, tmp_path / "victim"
    victim.mkdir()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        shutil.move(path, victim / "it")
    path.symlink_to("refs/heads/work" if part == "HEAD" else victim / "it")
    before = content(victim)
    assert (
        change(work)
        == f"not committed: memfs does not let git write to this repository: {path} is a link"
    )
    assert not git.set_driver(str(work), "other")
    init.run(str(work), str(tmp_path))
    draft = proposals.StoreDraft(blocks.find_place(str(work)))
    draft.discard()
    with pytest.raises(StoreError, match=f"{path} is a link"):
        githook.run(blocks.find_place(str(work)))
    with pytest.raises(StoreError, match=f"{path} is a link"):
        git.start(str(work), "update-ref", "refs/heads/x", "HEAD")
    assert content(victim) == before


def linked(work: Path, own: Path) -> None:
    shutil.rmtree(work / ".git")
    (work / ".git").symlink_to(own / ".git")


def named(work: Path, own: Path) -> None:
    shutil.rmtree(work / ".git")
    (work / ".git").write_text(f"gitdir: {own}/.git\n")


def shared(work: Path, own: Path) -> None:
    (work / ".git/commondir").write_text(f"{own}/.git\n")


def forged(work: Path, own: Path) -> None:
    """Make a linked worktree of it, of which it does not know."""
    shutil.rmtree(work / ".git")
    fake = work / "fake/.git/worktrees/w"
    fake.mkdir(parents=True)
    (fake / "commondir").write_text(f"{own}/.git\n")
    (fake / "gitdir").write_text(f"{work}/.git\n")
    (fake / "HEAD").write_text("ref: refs/heads/own\n")
    (work / ".git").write_text(f"gitdir: {fake}\n")


@pytest.mark.parametrize("plant", [linked, named, shared, forged])
def test_a_repository_that_does_not_know_the_folder_is_not_written(
    work: Path, tmp_path: Path, plant: Callable[[Path, Path], None]
) -> None:
    own = tmp_path / "own"
    git_run(tmp_path, "init", "-q", "-b", "own", str(own))
    git_run(own, "commit", "-q", "--allow-empty", "-m", "mine")
    plant(work, own)
    before = content(own)
    change(work)
    git.set_driver(str(work), "other")
    with pytest.raises(StoreError):
        githook.run(blocks.find_place(str(work)))
    with pytest.raises(StoreError, match="memfs does not let git write to this repository"):
        git.start(str(work), "update-ref", "refs/heads/x", "HEAD")
    proposals.StoreDraft(blocks.find_place(str(work))).discard()
    assert content(own) == before


def test_linked_worktrees_and_submodules_are_written(work: Path, tmp_path: Path) -> None:
    git_run(work, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    assert change(tmp_path / "other") == ""
    assert git_run(tmp_path / "other", "log", "-1", "--format=%s") == "why\n"
    outer = tmp_path / "outer"
    git_run(tmp_path, "init", "-q", str(outer))
    allow = ("-c", "protocol.file.allow=always")
    git_run(outer, *allow, "submodule", "--quiet", "add", str(work), "inner")
    assert (outer / "inner/.git").is_file()
    for folder in (outer / "inner", tmp_path / "other", work):
        assert git.foreign_part(str(folder)) == ""
    draft = outer / "draft"
    git_run(outer / "inner", "worktree", "add", "-q", "-b", "draft", str(draft))
    assert git.foreign_part(str(draft)) == ""


def test_hooks_may_be_linked(work: Path, tmp_path: Path) -> None:
    shutil.rmtree(work / ".git/hooks", ignore_errors=True)
    (work / "scripts").mkdir()
    (work / ".git/hooks").symlink_to("../scripts")
    assert change(work) == ""
    assert os.listdir(work / "scripts") == []
