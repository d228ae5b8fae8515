"""What a variable names is not believed where a project may have set it."""

import os
from pathlib import Path

import pytest

from memfs.files import account

PLACES = {  # where a project can have something: (the path, whether its folder has marks)
    "in it": "tree/.evil",
    "deep in it": "tree/a/b/.evil",
    "beside the folder that is worked in": "tree/src/../.evil",
    "by a link": "tree/linked/.evil",
    "below it": "tree/src/deep/.evil",
    "itself": "tree",
}


@pytest.fixture
def tree(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project below the home folder, in whose subfolder one works."""
    tree = home / "code/tree"
    (tree / "src/deep").mkdir(parents=True)
    (home / "code/elsewhere").mkdir()
    monkeypatch.chdir(tree / "src/deep")
    return tree


@pytest.mark.parametrize("mark", ["", ".git", ".agent-memory", ".hg", ".jj"])
@pytest.mark.parametrize("path", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("worked", ["src", "src/deep", "."])
def test_what_a_project_names_is_not_believed(
    tree: Path, monkeypatch: pytest.MonkeyPatch, mark: str, path: str, worked: str
) -> None:
    if mark:
        (tree / mark).mkdir()
    (tree / "linked").symlink_to(tree / "src")
    monkeypatch.chdir(tree / worked)
    named = tree.parent / path
    assert account.is_of_project(str(named), os.getcwd())
    assert account.is_of_project(os.path.relpath(named), os.getcwd())
    monkeypatch.setenv("CODEX_HOME", str(named))
    assert account.find_named_folder("CODEX_HOME") == ""


@pytest.mark.parametrize("mark", [".git", ".agent-memory"])
def test_nor_what_another_project_has(tree: Path, home: Path, mark: str) -> None:
    other = home / "other"
    (other / mark).mkdir(parents=True)
    assert account.is_of_project(f"{other}/.evil", str(tree))
    assert account.is_of_project(f"{other}/vendor/deep/.evil", str(home))


def test_what_is_the_users_is_believed(
    tree: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".git").mkdir()  # settings of a home folder may be in a repository
    for path in (home, home / ".codex", home / "tools/codex", tmp_path / "data/codex", "/etc/x"):
        assert not account.is_of_project(str(path), str(tree)), path
    (home / "data/.agent-memory").mkdir(parents=True)
    assert not account.is_of_project(f"{home}/data/.agent-memory", str(tree)), "a store of theirs"
    monkeypatch.chdir(home)
    assert not account.is_of_project(str(home / ".codex"), str(home))
    assert not account.is_of_project("/usr/local/share/x", "/usr/src/app")


@pytest.mark.parametrize("worked", ["src/deep", "src", "."])
@pytest.mark.parametrize("mark", ["", ".git"])
def test_no_program_of_a_project_is_found(
    tree: Path, home: Path, monkeypatch: pytest.MonkeyPatch, worked: str, mark: str
) -> None:
    if mark:
        (tree / mark).mkdir()
    for folder in (tree / "bin", tree / "src/bin", home / "bin"):
        folder.mkdir()
        (folder / "git").write_text("#!/bin/sh\n")
        (folder / "git").chmod(0o755)
    (home / "link").symlink_to(tree / "bin")
    monkeypatch.chdir(tree / worked)
    theirs = [str(tree / "bin"), str(tree / "src/bin"), str(home / "link"), "bin", ".", ""]
    monkeypatch.setenv("PATH", os.pathsep.join([*theirs, str(home / "bin")]))
    assert account.clean_path() == str(home / "bin")
    assert account.find_program("git") == str(home / "bin/git")
    for name in (tree / "bin/git", "./bin/git", home / "link/git"):
        assert account.find_program(str(name)) == ""
    monkeypatch.setenv("PATH", os.pathsep.join(theirs))
    assert account.clean_path() == os.defpath, "an empty one would be the folder one works in"
    monkeypatch.chdir(home)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tree / "bin"), str(home / "bin")]))
    assert account.find_program("git", str(tree / "src")) == str(home / "bin/git")
