"""Blocks in two clones: merged by git with our driver, mended by doctor without it."""

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memfs.core.body_edits import (
    Append,
    Create,
    Describe,
    Edit,
    Insert,
    Rejected,
    Remove,
    Replace,
    Rethink,
)
from memfs.core.merge import merge
from memfs.core.records import Origin
from memfs.ops import doctor, edit, history, init, show, status, undo
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
    run(tmp_path, "clone", "-q", str(repo), str(other))
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
    assert show.run(clones[0], "system_rules").version == 4
    ops = [entry.op for entry in history.log(clones[0], "system_rules")]
    assert [op for op in ops if op != "commit"][:2] == ["adopt", "append"]
    git.set_driver(str(repo), git.get_driver(str(repo)).replace(" -P", ""))
    [found] = [f for f in doctor.run(clones[0], "") if "folder 'memfs'" in f.text]
    assert (found.level, found.hint) == ("error", "register the merge driver again: memfs init")


LINES = [f"- line {number}" for number in range(8)]
KINDS: dict[str, Callable[[int], Edit]] = {
    "replaced": lambda at: Replace("notes", LINES[at], f"- replaced {at}"),
    "removed": lambda at: Remove("notes", LINES[at]),
    "followed": lambda at: Insert("notes", at + 1, f"- behind {at}"),
}
DESCRIBED = Describe("notes", {"description": "Another one", "pinned": False})


def test_edits_of_different_lines_merge_without_a_driver(place: Place, tmp_path: Path) -> None:
    change(place, Create("notes", "Notes", "\n".join(LINES)))
    block = blocks.get(place, "notes")
    sides: list[tuple[int, str]] = []
    wanted = [(at, make(at)) for make in KINDS.values() for at in range(len(LINES))]
    for at, each in [(-9, DESCRIBED), *wanted]:
        change(place, each)
        sides.append((at, Path(block.path).read_text()))
        undo.undo_edit(place, "notes", Origin())
        assert Path(block.path).read_text() == block.raw
    names = [tmp_path / name for name in ("ours", "base", "theirs")]
    merged = 0
    for (at, ours), (other_at, theirs) in itertools.combinations(sides, 2):
        if abs(at - other_at) < 3:  # git wants a line between them that both left as it is
            continue
        for name, text in zip(names, (ours, block.raw, theirs), strict=True):
            name.write_text(text)
        made = run(tmp_path, "merge-file", "-p", *map(str, names))
        assert (made.returncode, made.stdout.decode()) == (0, merge(block.raw, ours, theirs))
        merged += 1
    assert merged > 150


def test_a_diff_is_the_edit_alone(place: Place, repo: Path) -> None:
    """Whatever edits a block, also one of an earlier version once its keys are gone."""
    path = Path(place.home.root, "blocks/notes.md")
    path.write_text("---\ndescription: x\nversion: 7\nupdated_at: 2026-01-01T00:00:00Z\n---\n- a\n")
    assert show.run(place, "notes").version == 7
    change(place, Append("notes", "- b"))
    assert path.read_text() == "---\ndescription: x\n---\n- a\n- b\n"
    commit(repo)
    change(place, Append("notes", "- c"))
    shown = run(repo, "diff", "-U0", "--", str(path)).stdout.decode().splitlines()
    changed = [line for line in shown if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert changed == ["+- c"]
    assert show.run(place, "notes").version == 9
    found = [each for each in status.run(place, "").blocks if each.block.label == "notes"]
    assert [each.version for each in found] == [9]
    refused = edit.run(place, [Append("notes", "- d")], Origin(), [8])
    assert isinstance(refused, Rejected)
    assert "it is at version 9, not 8" in refused.message


def test_a_pull_request_merges_without_a_driver(
    place: Place, repo: Path, home: Path, tmp_path: Path
) -> None:
    change(place, Rethink("system_rules", "\n".join(LINES)))
    commit(repo)
    run(tmp_path, "clone", "-q", str(repo), "other")
    init.run(str(tmp_path / "other"), str(home))
    theirs = blocks.find_place(str(tmp_path / "other"))
    change(theirs, Replace("system_rules", LINES[0], "- theirs"))
    commit(tmp_path / "other")
    change(place, Replace("system_rules", LINES[7], "- ours"))
    commit(repo)
    server = tmp_path / "server"  # which has no driver, as those of GitHub and GitLab
    run(tmp_path, "clone", "-q", str(repo), str(server))
    pulled = run(server, "pull", "-q", "--no-rebase", "--no-edit", str(tmp_path / "other"), "main")
    assert pulled.returncode == 0, pulled.stdout + pulled.stderr
    text = (server / ".agent-memory/blocks/system_rules.md").read_text()
    assert text.endswith("\n".join(["- theirs", *LINES[1:7], "- ours"]) + "\n")


def test_doctor_mends_what_git_left_without_it(clones: tuple[Place, Place], repo: Path) -> None:
    ours, theirs = clones
    run(repo, "config", "--unset", "merge.memfs.driver")
    assert run(repo, "pull", "-q", "--no-rebase", theirs.home.top, "main").returncode == 1
    text = blocks.get(ours, "system_rules").raw
    assert "<<<<<<<" in text
    assert "- theirs" in text
    findings = doctor.run(ours, os.environ["HOME"])
    path = f"{ours.home.root}/blocks/system_rules.md"
    line = text.split("\n").index("<<<<<<< HEAD") + 1
    assert f"{path}:{line}: merge conflict markers" in {f.text for f in findings}
    assert "git does not use memfs to merge blocks in this clone" in {f.text for f in findings}
    [fixed] = doctor.fix(ours, os.environ["HOME"])
    assert blocks.get(ours, "system_rules").value == MERGED
    assert Path(fixed.hint.removeprefix("the old file was saved as ")).read_text() == text
    undo.undo_edit(ours, "system_rules", Origin())
    assert blocks.get(ours, "system_rules").raw == text


def test_init_registers_the_driver_once(repo: Path, place: Place) -> None:
    assert git.get_driver(str(repo)).startswith(sys.executable)
    assert git.get_merge_driver(f"{repo}/.agent-memory", "blocks/deep/er/x.md") == "memfs"
    assert not git.set_driver(str(repo), init.driver())
    assert not [f for f in doctor.run(place, os.environ["HOME"]) if "merge" in f.text]
