"""A small run of the stress command, and that its checks notice what they are for."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.stress import checks
from tests.stress.roads import ROADS, RefusedError
from tests.stress.steps import (
    APPEND,
    REMOVE,
    REPLACE,
    UNDO,
    Ledger,
    Part,
    Step,
    Worker,
    key_of,
    line_of,
    read,
    whole,
)
from tests.stress.workers import EDITOR
from tests.stress.world import MAIN, USER_BLOCK, World

ROOT = Path(__file__).parents[2]
DECISIONS = "project:decisions"
FIRST, SECOND, THIRD, SAVED, *MORE = (line_of("test", n, 0, Random(n)) for n in range(1, 20))
Damage = Callable[[World], None]


@pytest.mark.thorough
def test_a_small_run_finds_nothing_and_leaves_nothing_behind(tmp_path: Path) -> None:
    over, life = os.pipe()
    words = ["--processes", "3", "--edits", "8", "--kills", "0.3", "--seed", "small"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.stress", *words],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        pass_fds=(life,),
        text=True,
        capture_output=True,
        check=False,
    )
    os.close(life)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("failures             0\n")
    assert os.read(over, 1) == b"", "a process is left"
    os.close(over)
    assert not list(tmp_path.glob("memfs-stress-*"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A world in which every road was taken and every kind of edit done, and nobody was killed."""
    world = World(tmp_path_factory.mktemp("world"))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in world.environment().items():
            patch.setenv(name, value)
        world.make()
        for number, key in enumerate(world.files()):
            tree, _, label = key.partition("|")
            do(world, "cli", tree, Part(APPEND, label, MORE[number]))
        do(world, "python", MAIN, Part(APPEND, DECISIONS, FIRST))
        do(world, "cli", MAIN, Part(REPLACE, DECISIONS, SECOND, FIRST))
        do(world, "cli", MAIN, Part(REMOVE, DECISIONS, old=FIRST))  # refused
        do(world, "python", MAIN, Part(REMOVE, DECISIONS, old=SECOND))
        do(world, "python", MAIN, Part(UNDO, DECISIONS))
        save(world, DECISIONS, SAVED)
        both = Part(APPEND, DECISIONS, MORE[5]), Part(APPEND, USER_BLOCK, MORE[6])
        do(world, "cli", MAIN, *both)
        do(world, "mcp", MAIN, Part(APPEND, DECISIONS, THIRD))
    return world


def do(world: World, road: str, tree: str, *parts: Part) -> None:
    """Do a step as a worker does."""
    path = world.ledgers / "test.ledger"
    step = Step("test", len(read(path)) + 1, road, tree, parts)
    ledger = Ledger(path)
    ledger.begin(step)
    life = os.open(os.devnull, os.O_WRONLY)
    taken = ROADS[road](world, life, lambda _: None)
    try:
        ledger.done(taken(step), 0.0)
    except RefusedError as error:
        ledger.refused(str(error))
    finally:
        taken.close()
        os.close(life)


def save(world: World, label: str, line: str) -> None:
    """Save a block as an editor does."""
    ledger = Ledger(world.ledgers / "test.ledger")
    number = len(read(world.ledgers / "test.ledger")) + 1
    ledger.begin(Step("test", number, EDITOR, MAIN, (Part(APPEND, label, line),)))
    path = world.file(MAIN, label)
    path.write_text(path.read_text() + line + "\n")
    ledger.done({key_of(MAIN, label): 0}, 0.0)


def failures(world: World) -> str:
    return "\n".join(checks.check(world, read(world.ledgers / "test.ledger")).failures)


def test_an_undisturbed_world_is_told_as_one_story(world: World) -> None:
    assert failures(world) == ""
    assert not list(checks.doctor(world))
    noted = read(world.ledgers / "test.ledger")
    assert [note.step.number for note in noted if note.refused] == [8]
    assert SECOND in world.file(MAIN, DECISIONS).read_text()


def lost_line(world: World) -> None:
    path = world.file(MAIN, DECISIONS)
    path.write_text(path.read_text().replace(f"{SECOND}\n", ""))


def half_line(world: World) -> None:
    path = world.file(MAIN, DECISIONS)
    path.write_text(path.read_text().replace(SECOND, SECOND[:-3]))


def line_twice(world: World) -> None:
    path = world.file(MAIN, DECISIONS)
    path.write_text(path.read_text() + f"{SECOND}\n")


def entries(world: World, change: Callable[[list[dict[str, object]]], None]) -> None:
    """Change the entries of the project's journal."""
    path = world.stores["project"] / "local/journal.jsonl"
    found = [json.loads(line) for line in path.read_text().splitlines()]
    change(found)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in found))


def gap(world: World) -> None:
    entries(world, lambda found: found[-1].update(version=99))


def forgotten(world: World) -> None:
    entries(world, lambda found: found.__delitem__(-1))


def torn(world: World) -> None:
    path = world.stores["project"] / "local/journal.jsonl"
    path.write_bytes(path.read_bytes() + b'{"id": "1')


def old_heads(world: World) -> None:
    path = world.stores["user"] / "local/heads.json"
    path.write_text(path.read_text().replace('"offset": ', '"offset": 1'))


def half_patch(world: World) -> None:
    entries(world, lambda found: found.__delitem__(-2))


def not_done(world: World) -> None:
    """A step is acknowledged under the version of another."""
    path = world.ledgers / "test.ledger"
    ledger = Ledger(path)
    ledger.begin(Step("test", 90, "cli", MAIN, (Part(APPEND, USER_BLOCK, MORE[9]),)))
    ledger.done({key_of(MAIN, USER_BLOCK): 2}, 0.0)


def refused_and_done(world: World) -> None:
    path = world.ledgers / "test.ledger"
    path.write_text(path.read_text().rpartition('{"done"')[0] + '{"refused": "no"}\n')


def nobodys(world: World) -> None:
    path = world.ledgers / "test.ledger"
    path.write_text(path.read_text().rpartition('{"begin"')[0])


def adopted(world: World) -> None:
    """What the editor saved was saved by nobody."""
    path = world.ledgers / "test.ledger"
    path.write_text(path.read_text().replace(SAVED, MORE[9]))


def leftover(world: World) -> None:
    (world.stores["user"] / "blocks/.habits.md.tmp").touch()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lost_line, ("lost: ", "the file is not what its last edit wrote")),
        (half_line, ("half a line",)),
        (line_twice, ("2 times",)),
        (gap, ("the versions of its",)),
        (forgotten, ("the file is not what its last edit wrote", "which it is not")),
        (torn, ("no whole entry",)),
        (old_heads, ("heads end at",)),
        (half_patch, ("is half there",)),
        (not_done, ("was acknowledged to", "which it is not")),
        (refused_and_done, ("was refused (no), and is there",)),
        (nobodys, ("is nobody's", "there for no reason")),
        (adopted, ("is not what the editor saved", "was adopted 0 times")),
        (leftover, ("was left",)),
    ],
)
def test_the_checks_notice(world: World, damage: Damage, said: tuple[str, ...]) -> None:
    before = {path: path.read_bytes() for path in _files(world)}
    try:
        damage(world)
        found = failures(world)
    finally:
        for path in set(_files(world)) - before.keys():
            path.unlink()
        for path, data in before.items():
            path.write_bytes(data)
    assert not [words for words in said if words not in found]


def test_the_checks_notice_a_lock_that_is_held(world: World) -> None:
    with open(world.lock("user"), "rb") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert "is still held" in failures(world)


def _files(world: World) -> list[Path]:
    """List what a damage can be done to."""
    folders = (*world.stores.values(), world.ledgers)
    return [path for folder in folders for path in folder.rglob("*") if path.is_file()]


def test_a_killed_worker_goes_on_where_its_ledger_ends(tmp_path: Path) -> None:
    path = tmp_path / "w00.ledger"
    ledger = Ledger(path)
    first = Worker("w00", [], {"cli": 1}, "seed")
    steps = [first.choose() for _ in range(3)]
    for step in steps:
        ledger.begin(step)
        if step is not steps[1]:
            ledger.done(dict.fromkeys(step.keys, 2), 0.1)
    with path.open("a") as handle:
        handle.write('{"begin": {"who": "w0')
    Ledger(path).begin(again := Worker("w00", read(path), {"cli": 1}, "seed").choose())
    noted = read(path)
    assert [note.step for note in noted] == [*steps, again]
    assert [bool(note.done) for note in noted] == [True, False, True, False]
    assert again.number == 4


def test_a_line_is_whole_or_it_is_not() -> None:
    line = line_of("w00", 7, 0, Random(1))
    assert whole(line)
    assert not [cut for cut in range(len(line)) if whole(line[:cut])]
