"""A repository's configuration, attributes and hooks run nothing, whatever memfs is asked."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memfs.store import blocks, proposals
from tests import forked
from tests.e2e import doors
from tests.e2e.doors import OPENED, STORE, World
from tests.e2e.program import hook
from tests.e2e.test_hostile import EVENTS
from tests.terminal import type_into

TRUST = ["trust"]
LOOKS = [
    line.split()
    for line in (
        *("show rules", "status", "status --json", "doctor", "log", "log rules", "log process"),
        *("diff rules", "blame rules", "blame clean", "trust", "trust --json", "sync --check"),
    )
]
ACTS = (
    TRUST,
    ["edit", "rules", "--append", "mine"],
    ["edit", "clean", "--append", "mine"],
    ["create", "fresh", "A block"],
    ["undo", "fresh"],
    ["archive", "add", "A passage."],
    ["sync", "agents"],
    ["edit", "rules", "--append", "more"],
    ["sync", "--stage"],
    ["sync", "--git-hook"],
    ["doctor", "--secrets"],
    ["export", "memory.zip", "--all", "--with-secrets"],
    ["init"],
    ["install", "claude", "--local"],
    ["install", "claude", "--project"],
    ["trust", "--revoke"],
)
PLAIN = (
    ["status"],
    ["log", "-p", "--", STORE],
    ["log", "-1"],
    ["diff"],
    ["diff", "--no-ext-diff"],
    ["diff", "HEAD~1"],
    ["diff", "--no-ext-diff", "HEAD~1"],
    ["add", "-A"],
    ["commit", "--no-gpg-sign", "-m", "x"],
    ["show", "HEAD:AGENTS.md"],
)


WORLDS = [
    pytest.param(name, marks=() if name == "config" else pytest.mark.thorough)
    for name in sorted(doors.WORLDS)
]


@pytest.fixture(params=WORLDS)
def world(request: pytest.FixtureRequest, tmp_path: Path, home: Path) -> World:
    return doors.make(tmp_path / "world", request.param)


def run(world: World, words: list[str]) -> str:
    start = time.monotonic()
    if words is TRUST:  # it wants a person
        code, said = type_into([sys.executable, "-m", "memfs", "trust"], "y\n", world.cwd)
    else:
        code, said = forked.run(world.cwd, *words)
    assert code in (0, 1, 2), (words, said)
    assert "Traceback" not in said, (words, said)
    assert time.monotonic() - start < 15, words
    assert not world.ran(), (words, world.ran())
    return said


def listen(world: World) -> None:
    for name, more in EVENTS:
        hook(world.cwd, name, **more)
        assert not world.ran(), (name, world.ran())


def test_nothing_of_a_repository_runs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in world.variables.items():
        monkeypatch.setenv(name, value)
    for words in LOOKS:
        run(world, words)
    listen(world)
    for words in (*ACTS[:1], *LOOKS, *ACTS[1:-1]):
        run(world, words)
        if words is TRUST:
            listen(world)
    (world.top / STORE / "blocks/rules.md").write_text("changed by a checkout\n")
    listen(world)
    monkeypatch.chdir(world.cwd)
    place = blocks.find_place(str(world.cwd))
    draft = proposals.StoreDraft(place)
    assert draft.place.project
    Path(draft.place.project.root, "blocks/rules.md").write_text("tidied\n")
    draft.save_proposal("m", ("s",), "", "")
    draft.discard()
    run(world, ACTS[-1])


@pytest.mark.parametrize("name", sorted(doors.WORLDS))
def test_the_doors_are_open_to_git_itself(name: str, tmp_path: Path, home: Path) -> None:
    world = doors.make(tmp_path / "world", name)
    for words in PLAIN:
        world.git(*words, check=False, **world.variables)
    assert world.ran() >= OPENED[name]


def test_what_goes_through_a_filter_is_not_committed_and_the_rest_is(
    tmp_path: Path, home: Path
) -> None:
    world = doors.make(tmp_path / "world", "config")
    run(world, TRUST)
    said = run(world, ["edit", "clean", "--append", "secret"])
    assert "not committed: blocks/clean.md needs filter=clean, and memfs runs no" in said
    assert "not committed" not in run(world, ["edit", "rules", "--append", "mine"])
    quiet = ("-c", "log.showSignature=false", "-c", f"core.hooksPath={os.devnull}")
    listed = world.git(*quiet, "log", "-1", "--format=%an", "--name-only").split()
    assert listed == ["Eve", f"{STORE}/blocks/rules.md"]
    shown = world.git("cat-file", "blob", f"HEAD:{STORE}/blocks/rules.md")
    assert shown.endswith("first\nsecond, changed\nmine")
    assert "secret" not in world.git("cat-file", "blob", f"HEAD:{STORE}/blocks/clean.md")


@pytest.mark.parametrize("name", ["partial", "ext"])
def test_texts_that_are_not_here_are_left_out(name: str, tmp_path: Path, home: Path) -> None:
    world = doors.make(tmp_path / "world", name)
    run(world, TRUST)
    said = run(world, ["log", "conv"])
    assert said.count("memory") == 2, said
    said = run(world, ["status", "--json"])
    assert said.count('"sync": "dirty"') == 1, said


def test_a_repository_of_somebody_else_is_none(tmp_path: Path, home: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    world = doors.make(tmp_path / "world", "config")
    subprocess.run(["chown", "-R", "12345", str(world.top)], check=True)
    said = run(world, ["log", "rules"])
    assert "Tester" not in said
    run(world, TRUST)
    assert "git cannot list" in run(world, ["edit", "rules", "--append", "mine"])
    assert "mine" not in (world.top / STORE / "blocks/rules.md").read_text()
