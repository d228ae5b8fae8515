"""Blocks in two clones: merged by git with our driver, mended by doctor without it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memfs.core.body_edits import Append, Edit, Replace
from memfs.core.records import Origin
from memfs.ops import doctor, edit, history, init, undo
from memfs.store import blocks, git
from memfs.store.blocks import Place


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False)


def commit(folder: Path) -> None:
    run(folder, "add", "-A")
    assert run(folder, "commit", "-qm", "memory").returncode == 0


def change(place: Place, *wanted: Edit) -> None:
    assert isinstance(edit.run(place, list(wanted), Origin()), edit.Edited)


@pytest.fixture
def clones(place: Place, repo: Path, home: Path, tmp_path: Path) -> tuple[Place, Place]:
    """Two clones with one block, in both of which a side was changed and committed."""
    change(place, Append("system_rules", "- one\n- two\n- three"))
    commit(repo)
    other = tmp_path / "other"
    subprocess.run(["git", "clone", "-q", str(repo), str(other)], check=True)
    init.run(str(other), str(home))
    theirs = blocks.find_place(str(other))
    change(theirs, Append("system_rules", "- theirs"), Replace("system_rules", "one", "ONE"))
    commit(other)
    change(place, Append("system_rules", "- ours"))
    commit(repo)
    return place, theirs


MERGED = "- ONE\n- two\n- three\n- ours\n- theirs"


def test_a_folder_of_the_repository_is_not_taken_for_memfs(
    clones: tuple[Place, Place], repo: Path
) -> None:
    (repo / "memfs").mkdir()
    (repo / "memfs/__init__.py").write_text("")
    (repo / "memfs/__main__.py").write_text("open('taken', 'w')")
    assert clones[1].project
    run(repo, "pull", "-q", "--no-rebase", "--no-edit", clones[1].project.top, "main")
    assert not (repo / "taken").exists()
    assert blocks.get(clones[0], "system_rules").value == MERGED
    git.set_driver(str(repo), git.get_driver(str(repo)).replace(" -P", ""))
    [found] = [f for f in doctor.run(clones[0], "") if "folder named memfs" in f.text]
    assert (found.level, found.hint) == ("error", "register it anew: memfs init")


def test_git_merges_with_the_driver(clones: tuple[Place, Place], repo: Path) -> None:
    ours, theirs = clones
    assert theirs.project
    merged = run(repo, "pull", "-q", "--no-rebase", "--no-edit", theirs.project.top, "main")
    assert merged.returncode == 0, merged.stdout + merged.stderr
    block = blocks.get(ours, "system_rules")
    assert block.value == MERGED
    assert block.version == 4
    ops = [entry.op for entry in history.log(ours, "system_rules")]
    assert [op for op in ops if op != "commit"][:2] == ["adopt", "append"]


def test_doctor_mends_what_git_left_without_it(clones: tuple[Place, Place], repo: Path) -> None:
    ours, theirs = clones
    run(repo, "config", "--unset", "merge.memfs.driver")
    assert theirs.project
    assert run(repo, "pull", "-q", "--no-rebase", theirs.project.top, "main").returncode == 1
    text = blocks.get(ours, "system_rules").raw
    assert "<<<<<<<" in text
    assert "- theirs" in text
    findings = doctor.run(ours, os.environ["HOME"])
    assert ours.project
    path = f"{ours.project.root}/blocks/system_rules.md"
    line = text.split("\n").index("<<<<<<< HEAD") + 1
    assert f"{path}:{line}: merge conflict markers" in {f.text for f in findings}
    assert "git does not merge blocks with memfs in this clone" in {f.text for f in findings}
    [fixed] = doctor.fix(ours, os.environ["HOME"])
    assert blocks.get(ours, "system_rules").value == MERGED
    assert Path(fixed.hint.removeprefix("as it was: ")).read_text() == text
    undo.undo_edit(ours, "system_rules", Origin())
    assert blocks.get(ours, "system_rules").raw == text


def test_init_registers_the_driver_once(repo: Path, place: Place) -> None:
    assert git.get_driver(str(repo)).startswith(sys.executable)
    assert git.get_merge_driver(f"{repo}/.agent-memory", "blocks/deep/er/x.md") == "memfs"
    assert not git.set_driver(str(repo), init.driver())
    assert not [f for f in doctor.run(place, os.environ["HOME"]) if "merge" in f.text]
