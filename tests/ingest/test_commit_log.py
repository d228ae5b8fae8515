"""What commits say is read from git once, and follows what is checked out."""

import os
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from memfs.core.errors import StoppedError
from memfs.ingest import commit_log
from memfs.ingest.commit_log import LoggedCommit
from memfs.store import commits
from memfs.store import git as git_program

SECRET = "ghp_" + "".join(f"{n}aB" for n in range(10, 22))[:36]


def git(*words: str, folder: Path | None = None, data: bytes = b"") -> str:
    done = subprocess.run(["git", *words], cwd=folder, input=data, capture_output=True, check=True)
    return done.stdout.decode().strip()


def commit(message: str | bytes, **env: str) -> str:
    data = message if isinstance(message, bytes) else message.encode()
    words = ["git", "commit", "-q", "--allow-empty", "-F", "-"]
    subprocess.run(words, input=data, env={**os.environ, **env}, check=True)
    return git("rev-parse", "HEAD")


def list_commits(folder: Path) -> dict[str, LoggedCommit]:
    """Return what the log says, by id."""
    return {each.id: each for path in folder.glob("*.jsonl") for each in commit_log.read(str(path))}


def list_texts(top: Path, folder: Path) -> set[str]:
    """Bring the log up to date; return the texts in it."""
    commit_log.update(str(top), str(folder))
    return {each.text for each in list_commits(folder).values()}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def test_a_commit_has_its_date_author_and_message(repo: Path, log: Path) -> None:
    message = f"cap retries\n\nThe token is {SECRET}.\n\nSigned-off-by: A B <a@b.example>"
    ident = commit(message, GIT_AUTHOR_DATE="2026-03-02T01:00:00+02:00", GIT_AUTHOR_NAME="Zoë")
    commit_log.update(str(repo), str(log))
    text = "cap retries\n\nThe token is [redacted:github-token]."
    assert list_commits(log) == {ident: LoggedCommit(ident, "2026-03-01T23:00:00Z", "Zoë", text)}


def test_merges_bots_and_commits_of_memory_are_left_out(repo: Path, log: Path) -> None:
    commit("by a person")
    commit("bump x", GIT_AUTHOR_NAME="dependabot[bot]")
    commit("bump y", GIT_AUTHOR_NAME="renovate")
    commit("bump z", GIT_AUTHOR_EMAIL="1+helper[bot]@users.noreply.example")
    commit("memory: append\n\nMemfs-Op: append\nMemfs-Actor: user\n")
    git("checkout", "-qb", "side")
    commit("robots are people, too", GIT_AUTHOR_NAME="Bottina Abbott")
    git("checkout", "-q", "main")
    git("merge", "-q", "--no-ff", "-m", "merge side", "side")
    assert list_texts(repo, log) == {"by a person", "robots are people, too"}


def test_only_what_is_new_is_read(repo: Path, log: Path) -> None:
    for number in range(20):
        commit(f"commit {number}")
    assert len(list_texts(repo, log)) == 20
    read: list[int] = []

    def stage(_name: str, length: int) -> Callable[[int], object]:
        read.append(length)
        return lambda _: None

    commit_log.update(str(repo), str(log), stage)
    assert read == []
    ident = commit("one more")
    before = {path.name: path.stat().st_mtime_ns for path in log.iterdir()}
    commit_log.update(str(repo), str(log), stage)
    assert read == [1]
    assert "one more" in list_texts(repo, log)
    after = {path.name: path.stat().st_mtime_ns for path in log.iterdir()}
    assert {name for name in after if before.get(name) != after[name]} == {
        "head",
        f"{ident[:2]}.jsonl",
    }


def test_history_that_was_rewritten_is_read_anew(repo: Path, log: Path) -> None:
    commit("stays")
    commit("is amended")
    assert list_texts(repo, log) == {"stays", "is amended"}
    git("commit", "-q", "--allow-empty", "--amend", "-m", "was amended")
    assert list_texts(repo, log) == {"stays", "was amended"}
    git("checkout", "-q", "--orphan", "empty")  # a branch without a commit says nothing
    assert list_texts(repo, log) == {"stays", "was amended"}


def test_the_newest_are_kept(repo: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_log, "MOST", 3)
    for day in range(1, 6):
        commit(f"commit {day}", GIT_COMMITTER_DATE=f"2026-01-0{day}T00:00:00Z")
    assert list_texts(repo, log) == {"commit 3", "commit 4", "commit 5"}
    commit("commit 6", GIT_COMMITTER_DATE="2026-01-06T00:00:00Z")
    assert list_texts(repo, log) == {"commit 4", "commit 5", "commit 6"}


def test_what_stopped_goes_on(repo: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_log, "_AT_ONCE", 2)
    for number in range(5):
        commit(f"commit {number}", GIT_COMMITTER_DATE=f"2026-01-0{number + 1}T00:00:00Z")

    def stop(_more: int) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        commit_log.update(str(repo), str(log), lambda _name, _length: stop)
    assert {each.text for each in list_commits(log).values()} == {"commit 3", "commit 4"}
    assert not commit_log.is_current(str(repo), str(log))
    assert len(list_texts(repo, log)) == 5
    assert commit_log.is_current(str(repo), str(log))


@pytest.mark.parametrize("how", ["exit 1", "exec sleep 9"])
@pytest.mark.parametrize("command", ["cat-file", "rev-list --no-walk=unsorted", "rev-list"])
def test_a_git_that_fails_or_hangs_leaves_the_log_open(
    repo: Path, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, how: str
) -> None:
    commit("says something")
    program = shutil.which("git")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text(
        f'#!/bin/sh\ncase " $* " in *" {command} "*) {how};; esac\nexec {program} "$@"\n'
    )
    (tmp_path / "bin/git").chmod(0o755)
    with monkeypatch.context() as broken:
        broken.setattr(git_program, "_silent", {})
        for name in ("list_ids", "read_messages"):
            broken.setattr(commits, name, partial(getattr(commits, name), seconds=0.5))
        broken.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
        assert list_texts(repo, log) == set()
    assert not commit_log.is_current(str(repo), str(log))
    assert list_texts(repo, log) == {"says something"}
    assert commit_log.is_current(str(repo), str(log))


def test_odd_messages(repo: Path, log: Path) -> None:
    commit("größte".encode("latin-1"), GIT_CONFIG_COUNT="1",
           GIT_CONFIG_KEY_0="i18n.commitEncoding", GIT_CONFIG_VALUE_0="latin-1")  # fmt: skip
    raw = subprocess.run(["git", "cat-file", "commit", "HEAD"], capture_output=True, check=True)
    plain = raw.stdout.replace(b"encoding latin-1\n", b"")  # no UTF-8, and nothing says what it is
    git("update-ref", "HEAD", git("hash-object", "-t", "commit", "-w", "--stdin", data=plain))
    commit("größte")
    commit("x" * (9 << 20))  # is left out
    commit("a long one " * 2000)
    found = sorted(list_texts(repo, log), key=lambda text: (len(text), "\ufffd" in text))
    assert [each[:10] for each in found] == ["größte", "gr\ufffd\ufffdte", "a long one"]
    assert len(found[-1]) <= 8000


def test_a_repository_without_commits_and_a_folder_without_git(
    repo: Path, log: Path, tmp_path: Path
) -> None:
    assert list_texts(repo, log) == list_texts(tmp_path, log) == set()
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd/.git").write_text("gitdir: nowhere\n")
    assert list_texts(tmp_path / "odd", log) == set()


def test_shallow_clones_linked_worktrees_and_folders_of_git_elsewhere(
    repo: Path, tmp_path: Path
) -> None:
    commit("first")
    commit("second")
    clone, tree, apart = tmp_path / "clone", tmp_path / "tree", tmp_path / "apart"
    git("clone", "-q", "--depth=1", f"file://{repo}", str(clone))
    git("worktree", "add", "-q", "-b", "other", str(tree))
    git("commit", "-q", "--allow-empty", "-m", "of the worktree", folder=tree)
    git("clone", "-q", "--separate-git-dir", str(tmp_path / "git"), str(repo), str(apart))
    assert list_texts(clone, tmp_path / "1") == {"second"}
    assert list_texts(tree, tmp_path / "2") == {"first", "second", "of the worktree"}
    assert list_texts(apart, tmp_path / "3") == list_texts(repo, tmp_path / "4")


def test_damaged_lines_are_read_again(repo: Path, log: Path) -> None:
    ident = commit("says something")
    list_texts(repo, log)
    (log / f"{ident[:2]}.jsonl").write_bytes(b'{"id": 3}\n[]\nx\xff\n')
    assert list_commits(log) == {}
    commit("more")
    assert list_texts(repo, log) == {"says something", "more"}
