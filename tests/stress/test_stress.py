"""A small run of the stress command, and that its checks notice what they are for."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
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
            do(world, "python", tree, Part(APPEND, label, MORE[number]))
        do(world, "python", MAIN, Part(APPEND, DECISIONS, FIRST))
        do(world, "python", MAIN, Part(REPLACE, DECISIONS, SECOND, FIRST))
        do(world, "python", MAIN, Part(REMOVE, DECISIONS, old=FIRST))  # refused
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
    with open(os.devnull, "wb") as life:
        taken = ROADS[road](world, life.fileno(), lambda _: None)
        try:
            ledger.done(taken(step), 0.0)
        except RefusedError as error:
            ledger.refused(str(error))
        taken.close()


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


NOT_DONE = {"begin": asdict(Step("test", 90, "cli", MAIN, (Part(APPEND, USER_BLOCK, MORE[9]),)))}
DONE = {"done": {key_of(MAIN, USER_BLOCK): 2}, "seconds": 0}


def cut(text: str, mark: str, more: str = "") -> str:
    """Return a text up to the last line that begins with a mark."""
    return text.rpartition(mark)[0] + more


def change_last(text: str, **values: object) -> str:
    *lines, last = text.splitlines()
    return "\n".join([*lines, json.dumps(json.loads(last) | values)]) + "\n"


def drop_line(text: str, number: int) -> str:
    lines = text.splitlines(keepends=True)
    del lines[number]
    return "".join(lines)


BLOCK, LEDGER = "repo/.agent-memory/blocks/decisions.md", "ledgers/test.ledger"
JOURNAL = "repo/.agent-memory/local/journal.jsonl"
DAMAGES: dict[str, tuple[str, Callable[[str], str], tuple[str, ...]]] = {
    "a lost line": (
        BLOCK,
        lambda text: text.replace(f"{SECOND}\n", ""),
        ("the file is not what its last edit wrote",),
    ),
    "half a line": (BLOCK, lambda text: text.replace(SECOND, SECOND[:-3]), ("half a line",)),
    "a line twice": (BLOCK, lambda text: f"{text}{SECOND}\n", ("2 times",)),
    "a gap": (JOURNAL, lambda text: change_last(text, version=99), ("the versions of its",)),
    "a lost edit": (
        JOURNAL,
        lambda text: drop_line(text, -1),
        ("the file is not what its last edit wrote", "which it is not"),
    ),
    "a torn edit": (JOURNAL, lambda text: text + '{"id": "1', ("no whole entry",)),
    "half a patch": (JOURNAL, lambda text: drop_line(text, -2), ("is half there",)),
    "old heads": (
        "home/.agent-memory/local/heads.json",
        lambda text: text.replace('"offset": ', '"offset": 1'),
        ("heads end at",),
    ),
    "acknowledged under the version of another": (
        LEDGER,
        lambda text: f"{text}{json.dumps(NOT_DONE)}\n{json.dumps(DONE)}\n",
        ("was acknowledged to", "which it is not"),
    ),
    "refused and done": (
        LEDGER,
        lambda text: cut(text, '{"done"', '{"refused": "no"}\n'),
        ("was refused (no), and is there",),
    ),
    "nobody's": (LEDGER, lambda text: cut(text, '{"begin"'), ("is nobody's",)),
    "saved by nobody": (
        LEDGER,
        lambda text: text.replace(SAVED, MORE[9]),
        ("is not what the editor saved", "was adopted 0 times"),
    ),
    "a leftover": ("home/.agent-memory/blocks/.habits.md.tmp", str, ("was left",)),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_the_checks_notice(world: World, name: str) -> None:
    file, damage, said = DAMAGES[name]
    path = world.root / file
    before = path.read_text() if path.exists() else None
    path.write_text(damage(before or ""))
    try:
        found = failures(world)
    finally:
        path.unlink()
        if before is not None:
            path.write_text(before)
    assert not [words for words in said if words not in found]


def test_the_checks_notice_a_lock_that_is_held(world: World) -> None:
    with open(world.lock("user"), "rb") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert "is still held" in failures(world)


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
