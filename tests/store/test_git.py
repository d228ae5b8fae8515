"""Asking git: what can be known without starting it."""

import os
import subprocess
from pathlib import Path

import pytest

from memfs.store import commits, git
from memfs.store.blocks import Place
from tests.store.conftest import commit_all


def test_a_folder_of_a_working_tree_is_inside(linked: Place, repo: Path, tmp_path: Path) -> None:
    (repo / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(repo / "a")
    assert linked.project
    for folder in (repo, repo / "a/b", repo / ".git", tmp_path / "link", Path(linked.project.root)):
        assert (git.top_level(str(folder)) is None) == (folder == repo / ".git")
    assert git.get_head_commit(str(repo)) == git.get_head_commit(linked.project.root) != ""


def test_outside_of_one_nothing_is_known(repo: Path, home: Path) -> None:
    for folder in (home, repo.parent, home / "not-there"):
        assert git.top_level(str(folder)) is None
        assert git.get_head_commit(str(folder)) == ""
        assert commits.list_dirty(str(folder), "blocks") is None
        assert git.start(str(folder), "rev-parse", "HEAD") is None
        assert git.is_ignored(str(folder / "file"))


@pytest.mark.parametrize(
    "words",
    [
        ["status"],
        ["log"],
        ["show", "HEAD"],
        ["diff"],
        ["add", "-A"],
        ["commit"],
        ["fetch"],
        ["checkout", "."],
        ["diff-files"],
        ["cat-file", "--filters", "HEAD:x"],
        ["hash-object", "x"],
        ["update-index", "--refresh"],
        ["worktree", "add", "x"],
        ["ls-files", "-m"],
    ],
)
def test_what_may_run_a_program_is_refused(repo: Path, words: list[str]) -> None:
    with pytest.raises(ValueError, match=f"git {words[0]} is not allowed: it may run programs"):
        git.start(str(repo), *words)


def test_a_repository_in_the_tree_is_not_asked(place: Place, repo: Path) -> None:
    assert place.project
    commit_all(repo)
    head = git.get_head_commit(str(repo))
    subprocess.run(["git", "init", "-q", "--bare", place.project.root], check=True)
    assert git.get_head_commit(place.project.root) == head
    assert git.top_level(place.project.root) == str(repo)


def test_where_git_says_the_files_are_makes_no_difference(
    place: Place, repo: Path, home: Path
) -> None:
    assert place.project
    subprocess.run(["git", "config", "core.worktree", str(home)], check=True)
    (repo / ".gitignore").write_text("local\n")
    assert git.top_level(place.project.root) == str(repo)
    assert git.is_ignored(f"{place.project.root}/local")
    assert not git.is_ignored(f"{place.project.root}/blocks/persona.md")


def test_a_working_tree_of_a_git_folder_elsewhere_is_one(
    place: Place, repo: Path, tmp_path: Path
) -> None:
    """As `git init --separate-git-dir` makes it, and a submodule is."""
    assert place.project
    commit_all(repo)
    head = git.get_head_commit(str(repo))
    elsewhere = tmp_path / "elsewhere"
    subprocess.run(["git", "init", "-q", f"--separate-git-dir={elsewhere}"], check=True)
    subprocess.run(["git", "config", "core.worktree", str(repo)], check=True)
    assert (repo / ".git").is_file()
    assert git.get_head_commit(place.project.root) == head != ""
    assert commits.list_dirty(place.project.root, "blocks") == set()


def test_what_is_no_repository_is_asked_for_nothing_above_it(place: Place, repo: Path) -> None:
    commit_all(repo)
    inner = repo / "inner"
    (inner / ".git").mkdir(parents=True)
    assert git.get_head_commit(str(inner)) == ""
    assert git.checked_out(str(inner)) is None
    assert git.is_ignored(str(inner / "x"))


def test_what_unpacks_to_very_much_is_left_out(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "LARGEST_OUTPUT", 10 << 20)
    words = ["git", "hash-object", "-w", "--stdin"]
    blobs = []
    for size in (100, 9 << 20, 11 << 20):
        done = subprocess.run(words, input=b"0" * size, check=True, capture_output=True)
        blobs.append(done.stdout.decode().strip())
    assert set(commits.read_blobs(str(repo), blobs)) == {blobs[0]}
    assert git.run(str(repo), "cat-file", "blob", blobs[1]) is not None
    assert git.run(str(repo), "cat-file", "blob", blobs[2]) is None


def test_a_message_that_unpacks_to_very_much_is_not_read(
    place: Place, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "LARGEST_OUTPUT", 1 << 20)
    subprocess.run(["git", "add", "-A"], check=True)
    subprocess.run(["git", "commit", "-q", "-F", "-"], input=b"0" * (2 << 20), check=True)
    assert commits.list_touching(str(repo), ".agent-memory") == []


@pytest.mark.parametrize(
    "where",
    [
        "index",
        *(pytest.param(each, marks=pytest.mark.thorough) for each in ("include", ".gitattributes")),
    ],
)
def test_git_that_hangs_is_waited_for_once(
    place: Place, repo: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_all(repo)
    monkeypatch.setattr(git, "_READING", 1)
    path = repo / {"include": "more", "index": ".git/index"}.get(where, where)
    if where == "include":
        subprocess.run(["git", "config", "include.path", str(path)], check=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    git.get_head_commit(str(repo))
    commits.read_staged(str(repo), ["."])
    commits.list_filters(str(repo), ["x"])
    assert str(repo) in git._silent
    monkeypatch.setattr(git, "_run_process", None)  # it is not even started
    commits.list_dirty(str(repo), ".agent-memory")
    assert git.get_head_commit(str(repo)) == ""


@pytest.mark.parametrize("key", ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "XDG_CONFIG_HOME"])
def test_a_file_of_the_project_is_not_its_users(
    repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    monkeypatch.delenv("GIT_CONFIG_NOSYSTEM")
    for folder, told in ((repo, ""), (home, "x\n")):
        (folder / "git").mkdir()
        for name in ("git/config", "config"):
            (folder / name).write_text("[a]\n\tb = x\n")
        path = folder if key == "XDG_CONFIG_HOME" else folder / "config"
        monkeypatch.setenv(key, str(path))
        assert (git.run(str(repo), "config", "--get", "a.b") or "") == told
    monkeypatch.setenv(key, os.path.relpath(path))
    assert git.run(str(repo), "config", "--get", "a.b") is None
