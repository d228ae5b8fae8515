"""Commits of files as they are, made of what git has and nothing that runs."""

import subprocess
from pathlib import Path

import pytest

from memfs.store import commit_writer, commits
from memfs.store import git as room
from tests.store.conftest import git

NOBODY = "memfs <memfs@localhost>"


@pytest.fixture(params=["sha1", "sha256"])
def work(request: pytest.FixtureRequest, tmp_path: Path, home: Path) -> Path:
    folder = tmp_path / "work"
    git(tmp_path, "init", "-q", "-b", "work", f"--object-format={request.param}", str(folder))
    git(folder, "config", "user.name", "Änne")
    git(folder, "config", "user.email", "anne@example.invalid")
    return folder


def commit(
    folder: Path, *names: str, message: str = "memory: x\n\nOp: y\n", nobody: str = ""
) -> str:
    head, known = room.checked_out(str(folder)), commits.read_committed(str(folder), names)
    assert head is not None
    assert known is not None
    return commit_writer.commit(str(folder), head, names, known, message, nobody)


def test_the_first_commit_and_the_next_are_whole(work: Path) -> None:
    odd = 'sub/a "b"\\\n\tö:*.md'
    (work / "sub").mkdir()
    (work / odd).write_text("odd")
    (work / "other").write_text("not ours")
    assert commit(work, odd) == ""
    (work / "tool").write_text("one")
    git(work, "add", "tool")
    git(work, "update-index", "--chmod=+x", "tool")
    git(work, "commit", "-qm", "a tool")
    (work / "tool").write_text("two")
    (work / odd).unlink()
    assert commit(work, odd, "tool") == ""
    assert git(work, "ls-tree", "-r", "HEAD").split()[::3] == ["100755", "tool"]
    assert git(work, "cat-file", "blob", "HEAD:tool") == "two"
    assert git(work, "log", "-1", "--format=%an <%ae>%n%cn%n%B").strip() == (
        "Änne <anne@example.invalid>\nÄnne\nmemory: x\n\nOp: y"
    )
    assert git(work, "reflog", "-1", "--format=%gs").strip() == "commit: memory: x"
    assert git(work, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/work"]
    assert git(work, "fsck", "--strict") == ""
    git(work, "update-index", "--chmod=-x", "tool")
    git(work, "reset", "-q")
    assert git(work, "status", "--porcelain").splitlines()[-1] == "?? other"


def test_bytes_are_kept(work: Path) -> None:
    data = bytes(range(256))
    (work / "x.md").write_bytes(data)
    assert commit(work, "x.md") == ""
    done = subprocess.run(
        ["git", "-C", str(work), "cat-file", "blob", "HEAD:x.md"], check=True, capture_output=True
    )
    assert done.stdout == data
    assert git(work, "status", "--porcelain") == ""


def test_a_branch_that_moved_meanwhile_is_left_where_it_is(work: Path) -> None:
    (work / "x.md").write_text("one\n")
    assert commit(work, "x.md") == ""
    before = room.checked_out(str(work))
    assert before
    git(work, "commit", "-q", "--allow-empty", "-m", "somebody else")
    (work / "x.md").write_text("two\n")
    said = commit_writer.commit(str(work), before, ["x.md"], {}, "late\n")
    assert said.startswith("fatal:")
    assert git(work, "log", "-1", "--format=%s").strip() == "somebody else"


def test_who_has_no_name_gets_the_one_that_is_given(work: Path) -> None:
    git(work, "config", "--unset", "user.name")
    git(work, "config", "--unset", "user.email")
    git(work, "config", "user.useConfigOnly", "true")
    (work / "x.md").write_text("one\n")
    assert commit(work, "x.md").startswith("fatal:")
    assert commit(work, "x.md", nobody=NOBODY) == ""
    assert git(work, "log", "-1", "--format=%an <%ae>").strip() == NOBODY


def test_a_filter_keeps_its_file_out_and_the_rest_goes_in(work: Path) -> None:
    (work / ".gitattributes").write_text("*.key filter=git-crypt\n")
    for name in ("a.key", "b.md"):
        (work / name).write_text("plain\n")
    said = commit(work, "a.key", "b.md")
    assert (
        said
        == "a.key needs filter=git-crypt, and memfs runs no git filters (commit the file with git)"
    )
    assert git(work, "ls-tree", "-r", "--name-only", "HEAD").split() == ["b.md"]
    assert git(work, "ls-files").split() == ["b.md"]


def test_a_filter_that_cannot_be_turned_off_keeps_the_index_as_it_is(
    work: Path, tmp_path: Path
) -> None:
    """An index that is written is compared with files that are as new; a filter would run."""
    (work / "y.txt").write_text("y\n")
    git(work, "add", "y.txt")
    (work / ".gitattributes").write_text("*.txt filter=a=b\n")
    git(work, "config", "filter.a=b.clean", f"touch {tmp_path}/ran; cat")
    (work / "x.md").write_text("one\n")
    assert commit(work, "x.md") == "git did not answer"
    assert not (tmp_path / "ran").exists()
    assert room.get_head_commit(str(work)) == ""


def test_links_and_giants_are_left_out(work: Path) -> None:
    (work / "link.md").symlink_to(work / "nowhere")
    with open(work / "huge.md", "wb") as handle:
        handle.truncate(commits.LARGEST + 1)
    (work / "x.md").write_text("one\n")
    assert commit(work, "link.md", "huge.md", "x.md") == ""
    assert git(work, "ls-tree", "--name-only", "HEAD").split() == ["x.md"]
