"""Who is at work in a round: workers, a person at an editor, prompts, and readers."""

import json
import os
import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from memfs.core.errors import LockedError
from memfs.store import lock, store_paths
from tests.stress.kills import Hunter
from tests.stress.roads import ROADS, BrokenError, KilledError, RefusedError
from tests.stress.steps import (
    APPEND,
    Ledger,
    Part,
    Step,
    Worker,
    key_of,
    line_of,
    mentioned,
    read,
    whole,
)
from tests.stress.world import BLOCKS, LINKED, MAIN, USER_BLOCK, World

EDITOR = "editor"
LOCKED_OUT = "reads that found the store locked"
_IN_TIME = 8.0  # seconds: a prompt's hook ends after 5, and the machine is busy
# Why a step may be refused: what it was about was taken back by somebody's undo, or killed.
_EXPECTED = ("is not in the block", "nothing to undo", "the block has ", "is locked by")


class Notes:
    """What a process has to tell, in one file for all."""

    def __init__(self, world: World, who: str) -> None:
        self._path = world.ledgers / "notes"
        self._who = who

    def failure(self, what: str) -> None:
        self._write({"failure": f"{self._who}: {what[:2000]}"})

    def call(self, what: str, seconds: float) -> None:
        self._write({"call": what, "seconds": seconds})

    def _write(self, note: dict[str, object]) -> None:
        with open(self._path, "ab", buffering=0) as handle:
            handle.write(json.dumps(note).encode() + b"\n")

    @staticmethod
    def read(world: World) -> list[dict[str, object]]:
        path = world.ledgers / "notes"
        text = path.read_text() if path.exists() else ""
        return [json.loads(line) for line in text.split("\n")[:-1]]


class Plan(NamedTuple):
    """What is asked for on the command line; `until` is a time."""

    processes: int
    edits: int
    seed: str
    roads: dict[str, int]
    kills: float
    until: float


class Round(NamedTuple):
    """What the processes of a round are told: how much to do, until when, what they inherit."""

    world: World
    plan: Plan
    life: int
    wishes: int
    parent: int

    def stopped(self) -> bool:
        """Tell whether all is done, or whoever started this was killed."""
        return (self.world.ledgers / "stop").exists() or os.getppid() != self.parent

    def chance(self, who: str) -> random.Random:
        return random.Random(f"{self.plan.seed} {who}")


def work(told: Round, who: str) -> None:
    """Do the steps of a worker that are left, one after the other."""
    path = told.world.ledgers / f"{who}.ledger"
    noted = read(path)
    worker = Worker(who, noted, told.plan.roads, told.plan.seed)
    hunter = Hunter(
        told.world, told.wishes, told.plan.kills, f"{told.plan.seed} kill {who} {worker.next}"
    )
    roads = {name: made(told.world, told.life, hunter.command) for name, made in ROADS.items()}
    usual = {note.step.road: note.seconds for note in noted if note.done}
    ledger = Ledger(path)
    notes = Notes(told.world, who)
    while worker.next <= told.plan.edits and time.time() < told.plan.until and not told.stopped():
        step = worker.choose()
        ledger.begin(step)
        hunter.before(step, usual.get(step.road, 0.1))
        start = time.monotonic()
        versions: dict[str, int] = {}
        try:
            versions = roads[step.road](step)
        except KilledError:
            pass
        except RefusedError as refusal:
            why = str(refusal)
            ledger.refused(why)
            if not any(expected in why for expected in _EXPECTED):
                notes.failure(f"step {step.name} was refused: {why}")
        except BrokenError as broken:
            notes.failure(f"step {step.name}: {broken}")
        else:
            usual[step.road] = time.monotonic() - start
            ledger.done(versions, usual[step.road])
        worker.learn(step, acknowledged=bool(versions))
    for road in roads.values():
        road.close()


def save(told: Round, who: str) -> None:
    """Save a block now and then as an editor does: read it, and put a new file in its place.

    It saves while nobody else writes: what is saved within the milliseconds between the last look
    and the rename of somebody who knows no lock is not what is tested here.
    """
    chance = told.chance(who)
    ledger = Ledger(told.world.ledgers / f"{who}.ledger")
    number = 0
    while not told.stopped():
        time.sleep(chance.uniform(0, 0.5))
        number += 1
        tree, label = chance.choice((MAIN, MAIN, LINKED)), chance.choice(BLOCKS)
        line = line_of(who, number, 0, chance)
        step = Step(who, number, EDITOR, tree, (Part(APPEND, label, line),))
        ledger.begin(step)
        project = store_paths.find(str(told.world.trees[tree]))
        store = store_paths.user_store() if label == USER_BLOCK else project
        assert store
        try:
            with lock.hold_lock(store):
                _save(told.world.file(tree, label), line, chance)
        except LockedError as error:
            ledger.refused(error.message)
            continue
        ledger.done({key_of(tree, label): 0}, 0.0)


def _save(path: Path, line: str, chance: random.Random) -> None:
    head, mark, body = path.read_text().partition("\n---\n")
    lines = body.splitlines()
    lines.insert(chance.randint(0, len(lines)), line)
    new = path.with_name(f".{path.name}.edited")
    new.write_text(head + mark + "\n".join(lines) + "\n")
    new.chmod(path.stat().st_mode)
    new.replace(path)


def prompt(told: Round, who: str) -> None:
    """Send prompts to the hook; each is answered in time, with nothing or with whole lines."""
    chance = told.chance(who)
    notes = Notes(told.world, who)
    while not told.stopped():
        payload = {
            "session_id": f"s{chance.randint(1, 5)}",
            "prompt": "what did we decide about cedars",
            "cwd": str(told.world.trees[chance.choice((MAIN, LINKED))]),
            "hook_event_name": chance.choice(("SessionStart", *["UserPromptSubmit"] * 4)),
        }
        start = time.monotonic()
        done = _run(told, ("hook", "claude"), MAIN, json.dumps(payload))
        seconds = time.monotonic() - start
        notes.call("prompts", seconds)
        if done.returncode or done.stderr or seconds > _IN_TIME:
            notes.failure(f"exit {done.returncode} after {seconds:.1f} s: {done.stderr}")
        reply = json.loads(done.stdout or '{"hookSpecificOutput": {"additionalContext": ""}}')
        lines = list(mentioned(reply["hookSpecificOutput"]["additionalContext"]))
        if half := [line for line in lines if not whole(line)]:
            notes.failure(f"the prompt was given half a line: {half[0]}")
        if payload["hook_event_name"] == "SessionStart" and not lines:
            notes.failure(f"a session was started without the blocks: {done.stdout}")
        time.sleep(chance.uniform(0, 0.4))


def look(told: Round, who: str) -> None:
    """Run the commands that read."""
    chance = told.chance(who)
    notes = Notes(told.world, who)
    while not told.stopped():
        label = chance.choice(BLOCKS)
        reads = ("log", f"log {label}", f"show {label}", f"diff {label}", "status", "show --list")
        words = tuple(chance.choice((*reads, "doctor")).split())
        start = time.monotonic()
        done = _run(told, words, chance.choice((MAIN, LINKED)))
        locked_out = "is locked by" in done.stderr
        notes.call(LOCKED_OUT if locked_out else "reads", time.monotonic() - start)
        if done.returncode and not locked_out:
            notes.failure(f"{words} ended with {done.returncode}: {done.stdout}{done.stderr}")
        shown = done.stdout.splitlines() if words == ("show", label) else []
        if half := [line for line in shown if not whole(line)]:
            notes.failure(f"{words} shows half a line: {half[0]}")
        time.sleep(chance.uniform(0, 0.4))


def _run(
    told: Round, words: tuple[str, ...], tree: str, text: str = ""
) -> subprocess.CompletedProcess[str]:
    with told.world.start(*words, tree=tree, life=told.life) as process:
        out, err = process.communicate(text.encode())
    return subprocess.CompletedProcess(words, process.returncode, out.decode(), err.decode())


Role = Callable[[Round, str], None]
BESIDES: dict[str, Role] = {EDITOR: save, "prompts": prompt, "readers": look}
