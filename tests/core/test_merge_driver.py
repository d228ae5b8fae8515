"""What git leaves of block files in two clones, without our driver, is resolved."""

import subprocess
from pathlib import Path

import pytest

from memfs.core.merge import resolve
from tests.core.test_merge import BASE, BODY, EDITS, MERGED, content, text

_AS = ("-c", "user.name=a", "-c", "user.email=a@b.example")


def git(folder: Path, *words: str, code: int = 0) -> None:
    run = subprocess.run(["git", "-C", folder, *_AS, *words], check=False, capture_output=True)
    assert run.returncode == code, run.stdout + run.stderr


def commit(folder: Path, side: int | None) -> None:
    for number, edits in enumerate(EDITS.values()):
        found = BASE + BODY if side is None else str(edits[side])
        (folder / f"{number}.md").write_text(found)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", f"{side}")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone in which blocks were edited, with the branch of another one."""
    folder = tmp_path_factory.mktemp("clone")
    git(folder, "init", "-q", "-b", "main")
    commit(folder, None)
    git(folder, "checkout", "-q", "-b", "theirs")
    commit(folder, 1)
    git(folder, "checkout", "-q", "main")
    commit(folder, 0)
    return folder


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_what_git_leaves_without_a_driver_is_resolved(style: str, clone: Path) -> None:
    git(clone, "reset", "-q", "--hard")
    git(clone, "-c", f"merge.conflictStyle={style}", "merge", "theirs", code=1)
    for number, (name, (_, _, lines)) in enumerate(EDITS.items()):
        found = resolve((clone / f"{number}.md").read_text())
        assert found is not None
        if style == "merge" and name == "edit and append":  # git hides that a line was replaced
            assert set(lines) <= set(content(found))
        else:
            assert found == MERGED + text(*lines), name
