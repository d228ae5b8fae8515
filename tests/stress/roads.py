"""The roads that an edit can take into the store. A new one is a class and a line in `ROADS`."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import memfs
from memfs.core import edits
from memfs.core.edits import Edit
from memfs.core.errors import MemfsError
from tests.stress.steps import UNDO, Part, Step, key_of
from tests.stress.world import COMMAND, World

Versions = dict[str, int]  # of block files
_SAID = re.compile(r"^✓ (\w+:\S+) version (\d+):", re.MULTILINE)
_TIMEOUT = 60  # seconds; the lock is waited for ten


class RefusedError(Exception):
    """Nothing was changed, says the store."""


class KilledError(Exception):
    """The call was killed: it may have been done, or not."""


class BrokenError(Exception):
    """What must not happen, whatever is killed."""


class Road(Protocol):
    """Does a step and returns the versions it made; raises one of the three errors above."""

    def __call__(self, step: Step) -> Versions: ...


class Cli:
    """`python -m memfs` in a process for each step, which may be killed."""

    def __init__(self, world: World, life: int, doom: Doom) -> None:
        self._world = world
        self._life = life
        self._doom = doom

    def __call__(self, step: Step) -> Versions:
        words = _command(step, self._world.ledgers)
        with subprocess.Popen(
            [*COMMAND, *words], cwd=self._world.trees[step.tree], env=self._world.environment(),
            pass_fds=(self._life,), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            self._doom(process)
            try:
                out, err = process.communicate(timeout=_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                raise BrokenError(f"{' '.join(words)} hangs") from None
        said = out.decode() + err.decode()
        if process.returncode == -9:
            raise KilledError
        if process.returncode == 1:
            raise RefusedError(said.strip())
        if process.returncode:
            raise BrokenError(f"{' '.join(words)} ended with {process.returncode}: {said}")
        return {key_of(step.tree, label): int(version) for label, version in _SAID.findall(said)}


class Python:
    """`memfs.open()` in the worker itself."""

    def __init__(self, world: World, _life: int, _doom: Doom) -> None:
        self._trees = world.trees

    def __call__(self, step: Step) -> Versions:
        try:
            memory = memfs.open(self._trees[step.tree])
            if step.parts[0].op == UNDO:
                entries = memory.undo(step.parts[0].label)
            else:
                entries = memory.edit([_edit(part) for part in step.parts], step.name)
        except MemfsError as error:
            raise RefusedError(error.message) from error
        return {key_of(step.tree, f"{e.tier}:{e.label}"): e.version for e in entries}


Doom = Callable[["subprocess.Popen[bytes]"], None]  # kills a process if that is its lot
# Made once in each worker. What a road starts must inherit `life` (its second argument).
ROADS: dict[str, Callable[[World, int, Doom], Road]] = {"cli": Cli, "python": Python}


def _command(step: Step, folder: Path) -> list[str]:
    """Return the words of the command line for a step; a patch is written into `folder`."""
    if len(step.parts) > 1:
        patch = folder / f"{step.name}.patch"
        patch.write_text(
            json.dumps([{"op": p.op, "label": p.label} | _values(p) for p in step.parts])
        )
        return ["edit", "--patch", str(patch), "--reason", step.name]
    part = step.parts[0]
    reason = ["--reason", step.name]
    match part.op:
        case "undo":
            return ["undo", part.label, *reason]
        case "append":
            return ["edit", part.label, "--append", part.text, *reason]
        case "insert":
            return ["edit", part.label, "--insert", str(part.at), part.text, *reason]
        case "replace":
            return ["edit", part.label, "--replace", part.old, part.text, *reason]
        case _:
            return ["edit", part.label, "--remove", part.old, *reason]


def _values(part: Part) -> dict[str, object]:
    match part.op:
        case "replace":
            return {"old": part.old, "new": part.text}
        case "remove":
            return {"text": part.old}
        case "insert":
            return {"line": part.at, "text": part.text}
        case _:
            return {"text": part.text}


def _edit(part: Part) -> Edit:
    kinds: dict[str, Callable[..., Edit]] = {
        "append": edits.Append, "insert": edits.Insert, "replace": edits.Replace,
        "remove": edits.Remove,
    }  # fmt: skip
    return kinds[part.op](label=part.label, **_values(part))
