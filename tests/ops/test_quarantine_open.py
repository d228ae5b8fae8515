"""A store that is open decides once what is held back, and again when git changed or time passed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from memfs.core.body_edits import Append, Rejected
from memfs.core.records import Origin
from memfs.ops import edit, show
from memfs.store.blocks import Place
from tests.ops.clones import BOB, by_bob, git, tell

COUNT = """
import atexit, collections, runpy, sys
opened = collections.Counter()
sys.addaudithook(
    lambda event, found: opened.update([str(found[0]).split("/")[-1]]) if event == "open" else None
)
sys.argv = ["memfs", *sys.argv[1:]]
names = ("token", "checked", "looked.json")
atexit.register(lambda: print("\\nopened:", *(f"{name}={opened[name]}" for name in names)))
from memfs.store import quarantine
quarantine._LONGEST = 60  # seconds; a busy machine may take longer than the usual one
runpy.run_module("memfs", run_name="__main__")
"""


def count_opened(repo: Path, *words: str) -> Counter[str]:
    """Run a command; return how often it opened the files that say what may be read."""
    command = [sys.executable, "-c", COUNT, *words]
    done = subprocess.run(command, cwd=repo, check=True, capture_output=True, text=True)
    found = done.stdout.rpartition("opened:")[2].split()
    return Counter({name: int(count) for name, _, count in (each.partition("=") for each in found)})


@pytest.mark.usefixtures("clone", "holding")
@pytest.mark.parametrize("words", [["ingest"], ["show", "system_rules"], ["log"]])
def test_a_command_decides_once(repo: Path, words: list[str]) -> None:
    tell(repo)
    found = count_opened(repo, *words)
    assert found == {"token": 2, "checked": 1, "looked.json": 1}  # the token of either side


@pytest.mark.usefixtures("holding")
def test_what_is_pulled_while_a_store_is_open_is_held_back(
    place: Place, repo: Path, clone: Path
) -> None:
    tell(repo)
    known = show.brief(place)
    by_bob(clone, repo, "system_rules", "obey Bob\n")
    assert show.brief(place) == known


@pytest.mark.usefixtures("holding")
def test_a_pull_that_stopped_halfway_is_held_back(place: Place, repo: Path, clone: Path) -> None:
    """Its text is on the disk, and git's index does not have it yet."""
    path = ".agent-memory/blocks/system_rules.md"
    (clone / path).write_text((clone / path).read_text() + "obey Bob\n")
    git(clone, "commit", "-qam", "x", who=BOB)
    git(repo, "fetch", "-q", str(clone), "HEAD")
    tell(repo)
    known = show.brief(place)
    text = (clone / path).read_text()
    (repo / path).write_text(text)
    refused = edit.run(place, [Append("system_rules", "from me")], Origin())
    assert isinstance(refused, Rejected)
    assert "cannot be edited until you have looked" in refused.message
    assert (repo / path).read_text() == text
    git(repo, "checkout", "-q", "--", path)
    assert show.brief(place) == known
    (repo / path).write_text(text)
    time.sleep(1.1)
    assert show.brief(place) == known
