import subprocess
from pathlib import Path

import pytest

from memfs.store.blocks import Place


def git(folder: Path, *words: str) -> str:
    """Run git as a person does; return what it prints."""
    done = subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)
    return done.stdout.decode()


def commit_all(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "start")


def configure(place: Place, text: str) -> None:
    assert place.project
    Path(place.project.root, "config.yaml").write_text(f"memfs: 1\n{text}")


@pytest.fixture
def work(place: Place, repo: Path) -> Path:
    """A repository on the branch `work`, with the store committed and each edit to be, too."""
    git(repo, "config", "user.name", "Tester")
    git(repo, "config", "user.email", "tester@example.invalid")
    configure(place, "git: {commit: edit}\n")
    (repo / "code.py").write_text("print()\n")
    commit_all(repo)
    git(repo, "checkout", "-qb", "work")
    return repo
