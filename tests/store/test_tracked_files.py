"""What differs from git's own, told from bytes: as `git status` says, but for what a filter does."""

from pathlib import Path

import pytest

from memfs.store import commits
from memfs.store.blocks import Place
from tests.store.conftest import commit_all, git

BLOCKS = ".agent-memory/blocks"


@pytest.fixture
def store(place: Place, repo: Path) -> Path:
    commit_all(repo)
    assert place.project
    return Path(place.project.root)


def dirty(store: Path) -> set[str]:
    found = commits.list_dirty(str(store), "blocks")
    assert found is not None
    return {str(Path(path).relative_to(store / "blocks")) for path in found}


def test_what_differs_is_what_git_says_too(store: Path, repo: Path) -> None:
    assert dirty(store) == set()
    (store / "blocks/persona.md").write_text("changed\n")
    (store / "blocks/a").mkdir()
    for name in ("a/new.md", ":(top)odd.md", "*.md", "ignored.md", "ß\n.md"):
        (store / "blocks" / name).write_text("new\n")
    (store / "blocks/staged.md").write_text("staged\n")
    (store / "blocks/system_rules.md").unlink()
    (repo / ".gitignore").write_text("ignored.md\n")
    git(repo, "add", f"{BLOCKS}/staged.md")
    said = git(repo, "status", "--porcelain", "-z", "--untracked-files=all", "--", BLOCKS)
    assert dirty(store) == {line[3:].removeprefix(f"{BLOCKS}/") for line in said.split("\0")[:-1]}
    assert "ignored.md" not in dirty(store)
    assert len(dirty(store)) == 7


def test_before_the_first_commit_all_is_new(place: Place, repo: Path) -> None:
    assert place.project
    assert dirty(Path(place.project.root)) >= {"persona.md", "system_rules.md"}


def test_line_ends_alone_are_no_change(store: Path) -> None:
    path = store / "blocks/persona.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert dirty(store) == set()


def test_a_link_in_the_place_of_a_file_differs(store: Path) -> None:
    (store / "blocks/persona.md").unlink()
    (store / "blocks/persona.md").symlink_to(store / "blocks/system_rules.md")
    assert dirty(store) == {"persona.md"}


def test_what_a_sparse_checkout_leaves_out_is_not_gone(store: Path, repo: Path) -> None:
    git(repo, "update-index", "--skip-worktree", f"{BLOCKS}/persona.md")
    (store / "blocks/persona.md").unlink()
    (store / "blocks/system_rules.md").unlink()
    assert dirty(store) == {"system_rules.md"}


def test_what_has_a_filter_or_another_encoding_is_named(store: Path, repo: Path) -> None:
    (repo / ".gitattributes").write_text(
        "persona.md filter=git-crypt\nsystem_rules.md working-tree-encoding=UTF-16\n*.txt -filter\n"
    )
    names = ["blocks/persona.md", "blocks/system_rules.md", "blocks/x.txt", "blocks/y.md"]
    assert commits.list_filters(str(store), names) == {
        "blocks/persona.md": "filter=git-crypt",
        "blocks/system_rules.md": "working-tree-encoding=UTF-16",
    }


def test_where_git_does_not_say_a_filter_is_feared(store: Path, repo: Path) -> None:
    (repo / ".git/HEAD").write_text("nothing\n")
    assert commits.list_filters(str(store), ["blocks/x.md"]) == {"blocks/x.md": "filter=unknown"}


@pytest.mark.parametrize(
    ("attributes", "autocrlf", "kept"),
    [
        ("", "false", True),
        ("", "input", False),
        ("", "true", False),
        ("*.md text", "false", False),
        ("*.md text=auto", "false", False),
        ("*.md eol=crlf", "false", False),
        ("*.md -text", "true", True),
    ],
)
def test_line_ends_are_stored_as_git_would(
    store: Path, repo: Path, attributes: str, autocrlf: str, kept: bool
) -> None:
    (repo / ".gitattributes").write_text(attributes + "\n")
    git(repo, "config", "core.autocrlf", autocrlf)
    path = store / "blocks/new.md"
    path.write_bytes(b"one\r\ntwo\r\n")
    git(repo, "add", "-A")
    theirs = git(repo, "cat-file", "blob", f":{BLOCKS}/new.md").encode()
    ours = commits.fix_line_ends(str(store), "blocks/new.md", path.read_bytes())
    assert ours == theirs
    assert (b"\r" in ours) == kept
