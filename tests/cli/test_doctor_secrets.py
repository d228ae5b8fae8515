"""`memfs doctor --secrets`, as a person reads it."""

import json
import subprocess
from pathlib import Path

import pytest

from memfs.store.blocks import Place
from tests.cli.conftest import Run

SECRET = "ghp_" + "".join(f"{n}aB" for n in range(10, 22))[:36]


@pytest.fixture
def path(place: Place) -> Path:
    """A passage with a secret in its third line, committed to git."""
    assert place.project
    found = Path(place.project.root, "archive/2026-05/p1.md")
    found.parent.mkdir(parents=True)
    found.write_text(f"---\n---\nthe token is {SECRET}\n")
    for command in (["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run(["git", "-C", place.project.top, *command], check=True)
    return found


def test_it_is_listed_without_being_shown(memfs: Run, path: Path, repo: Path) -> None:
    found = memfs("doctor", "--secrets")
    assert found.code == 1
    assert found.out == f"{path}:3 github-token ghp… (40 characters)\n"
    commit = subprocess.run(
        ["git", "-C", str(repo), "log", "--format=%H"], capture_output=True, check=True, text=True
    ).stdout.strip()
    assert found.err == (
        "→ rotate these secrets, then run: memfs doctor --secrets --purge\n"
        f"! git: commit {commit[:10]} .agent-memory/archive/2026-05/p1.md github-token "
        "ghp… (40 characters)\n"
        "  git and every clone still contain these secrets: rotate them, then remove "
        "them from the history with git filter-repo\n"
    )
    listed = json.loads(memfs("doctor", "--secrets", "--json").out)
    assert [each["line"] for each in listed["found"]] == [3]
    assert listed["purged"] == []
    assert SECRET not in str(listed)


def test_it_is_redacted_only_with_a_yes(memfs: Run, path: Path) -> None:
    refused = memfs("doctor", "--secrets", "--purge")
    assert refused.code == 1
    assert refused.err.endswith("hint: add --yes to confirm\n")
    assert SECRET in path.read_text()
    done = memfs("doctor", "--secrets", "--purge", "--yes")
    assert done.code == 0
    assert done.err.startswith("✓ 1 place redacted; rotate these secrets anyway\n! git: ")
    assert path.read_text() == "---\n---\nthe token is [redacted:github-token]\n"
    again = memfs("doctor", "--secrets", "--purge")
    assert (again.code, again.out) == (0, "")
    assert again.err.startswith("✓ no secrets found\n")


def test_the_assistants_own_transcripts_are_said_to_be_out_of_reach(
    memfs: Run, path: Path, home: Path, repo: Path
) -> None:
    folder = home / ".claude/projects" / str(repo).replace("/", "-").replace("_", "-")
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_text("{}\n")
    said = memfs("doctor", "--secrets").err
    assert f"! not searched: the assistant's own transcripts in {folder}\n" in said


@pytest.mark.usefixtures("place")
def test_what_does_not_go_together(memfs: Run) -> None:
    assert memfs("doctor", "--purge").code == 2
    assert memfs("doctor", "--yes").code == 2
    assert memfs("doctor", "--secrets", "--fix").code == 2
    assert memfs("doctor", "--secrets") == (0, "", "✓ no secrets found\n")
