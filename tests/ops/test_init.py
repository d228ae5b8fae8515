import os
import stat
from pathlib import Path

from memfs.ops import init
from memfs.store import blocks
from tests.ops.clones import git


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_a_new_project(repo: Path, home: Path) -> None:
    (repo / "src/deep").mkdir(parents=True)
    made = init.run(str(repo / "src/deep"), str(home))
    assert made.store == f"{repo}/.agent-memory"
    assert {os.path.relpath(path, repo) for path in made.created if path.startswith(str(repo))} == {
        ".agent-memory/config.yaml",
        ".agent-memory/.gitignore",
        ".agent-memory/.gitattributes",
        ".agent-memory/blocks/persona.md",
        ".agent-memory/blocks/system_rules.md",
    }
    labels = [(tier, label) for tier, label, _ in blocks.paths(blocks.find_place(str(repo)))]
    assert labels == [("project", "persona"), ("project", "system_rules"), ("user", "human")]


def test_again_changes_nothing(repo: Path, home: Path) -> None:
    init.run(str(repo), str(home))
    before = tree(repo / ".agent-memory"), tree(home)
    assert init.run(str(repo), str(home)).created == ()
    assert (tree(repo / ".agent-memory"), tree(home)) == before


def test_a_plain_folder_works_too(tmp_path: Path, home: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert init.run(str(tmp_path / "plain"), str(home)).store == f"{tmp_path}/plain/.agent-memory"
    assert blocks.find_place(str(tmp_path / "plain")).project


def test_files_of_others_are_not_touched(repo: Path, home: Path) -> None:
    folder = repo / ".agent-memory"
    (folder / "blocks").mkdir(parents=True)
    theirs = {
        "README.md": b"ours\r\n",
        "MEMORY.md": b"\xff\xfe",
        ".gitignore": b"*.log\n",
        "blocks/persona.md": b"I am theirs",
    }
    for name, data in theirs.items():
        (folder / name).write_bytes(data)
    made = init.run(str(repo), str(home))
    assert {os.path.relpath(path, folder) for path in made.foreign} == set(theirs)
    assert {name: (folder / name).read_bytes() for name in theirs} == theirs
    assert blocks.get(blocks.find_place(str(repo)), "persona").value == "I am theirs"


def test_local_is_ignored_by_git_and_private(repo: Path, home: Path) -> None:
    (repo / ".agent-memory").mkdir()
    (repo / ".agent-memory/.gitignore").write_text("# theirs\n")
    init.run(str(repo), str(home))
    status = git(repo, "status", "--porcelain", "--untracked-files=all")
    assert "config.yaml" in status
    assert "local/" not in status
    assert stat.S_IMODE((repo / ".agent-memory/local").stat().st_mode) == 0o700
    for path in (home / ".agent-memory").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_in_the_home_folder_only_the_users_store_is_made(home: Path) -> None:
    made = init.run(str(home), str(home))
    assert made.store == f"{home}/.agent-memory"
    assert not (home / ".agent-memory/blocks/persona.md").exists()


def test_assistants_are_found(repo: Path, home: Path) -> None:
    assert init.run(str(repo), str(home)).hosts == ()
    (home / ".claude").mkdir()
    assert init.run(str(repo), str(home)).hosts == ("claude",)
