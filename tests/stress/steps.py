"""What a worker does: one step after the other, each noted before it is done and after.

Every text that is written is a line of its own that nobody else writes, with a sum at its end: a
half line is not taken for a whole one.
"""

import json
import os
import random
import re
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.stress.world import BLOCKS, LINKED, MAIN, USER_BLOCK

APPEND, INSERT, REPLACE = "append", "insert", "replace"
REMOVE, PATCH, UNDO = "remove", "patch", "undo"
# How often each is done; blocks stay small, for the price of a step not to grow with the round.
_MIX = {APPEND: 30, INSERT: 14, REPLACE: 18, REMOVE: 20, PATCH: 14, UNDO: 4}
ONE_AT_A_TIME = ("mcp",)  # roads that take no patch
_MOST_LINES = 12  # of one worker; above, it removes
_WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "jetty")
_LINE = re.compile(r"(\w+-\d{5}-\d) [a-z ]+ #(\d+)")


@dataclass(frozen=True)
class Part:
    """One edit of one block: `text` is the new line, `old` the line that goes."""

    op: str
    label: str
    text: str = ""
    old: str = ""
    at: int = 0

    def record(self) -> dict[str, object]:
        """Return the edit as a patch has it."""
        values: dict[str, object] = {"text": self.text}
        if self.op == REPLACE:
            values = {"old": self.old, "new": self.text}
        elif self.op == REMOVE:
            values = {"text": self.old}
        elif self.op == INSERT:
            values = {"line": self.at, "text": self.text}
        return {"op": self.op, "label": self.label, **values}


@dataclass(frozen=True)
class Step:
    """What one call does, in one tree; the parts of a patch happen together."""

    who: str
    number: int
    road: str
    tree: str
    parts: tuple[Part, ...]

    @property
    def name(self) -> str:
        return f"{self.who}-{self.number:05}"

    @property
    def keys(self) -> set[str]:
        """Return the block files that the step is about."""
        return {key_of(self.tree, part.label) for part in self.parts}

    def change(self, key: str) -> tuple[set[str], set[str]]:
        """Return the lines that it adds to a block and takes out of it."""
        mine = [part for part in self.parts if key_of(self.tree, part.label) == key]
        return {p.text for p in mine if p.text}, {p.old for p in mine if p.old}


@dataclass
class Noted:
    """A step as its worker's ledger knows it.

    `done` maps block files to their versions: the step is acknowledged. Neither `done` nor
    `refused`: the worker or the command was killed, and nobody knows.
    """

    step: Step
    done: dict[str, int] = field(default_factory=dict)
    refused: str = ""
    seconds: float = 0.0


class Ledger:
    """What one worker noted, in a file that only it appends to."""

    def __init__(self, path: Path) -> None:
        before = path.read_bytes() if path.exists() else b""
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if before and not before.endswith(b"\n"):  # a kill cut a line off
            os.write(self._handle, b"\n")

    def begin(self, step: Step) -> None:
        self._write({"begin": asdict(step)})

    def done(self, versions: dict[str, int], seconds: float) -> None:
        """Acknowledge the step that was begun last; it counts from here on."""
        self._write({"done": versions, "seconds": round(seconds, 4)})
        os.fsync(self._handle)

    def refused(self, why: str) -> None:
        self._write({"refused": why})

    def _write(self, note: dict[str, object]) -> None:
        os.write(self._handle, json.dumps(note).encode() + b"\n")


def read(path: Path) -> list[Noted]:
    """Read a ledger; a line that a kill cut off says nothing."""
    found: list[Noted] = []
    for line in path.read_text().split("\n") if path.exists() else []:
        try:
            note = json.loads(line)
        except ValueError:
            continue
        if "begin" in note:
            begun = note["begin"]
            found.append(Noted(Step(**begun | {"parts": tuple(Part(**p) for p in begun["parts"])})))
        elif "done" in note:
            found[-1].done, found[-1].seconds = note["done"], note["seconds"]
        else:
            found[-1].refused = note["refused"]
    return found


class Worker:
    """Chooses the steps of one worker; after a kill, the next one goes on from the ledger."""

    def __init__(self, who: str, noted: list[Noted], roads: dict[str, int], seed: str) -> None:
        self.who = who
        self.next = len(noted) + 1
        self._roads = roads
        self._chance = random.Random(f"{seed} {who} {self.next}")
        self._lines: list[tuple[str, str, str]] = []  # (tree, label, line) that may be there
        for note in noted:
            self.learn(note.step, acknowledged=bool(note.done))

    def learn(self, step: Step, *, acknowledged: bool) -> None:
        """Keep in mind which lines are ours; what is not certain is left alone for good."""
        for part in step.parts:
            key = key_of(step.tree, part.label)
            self._lines = [
                line
                for line in self._lines
                if (key_of(line[0], line[1]), line[2]) != (key, part.old)
            ]
            if part.text and acknowledged:
                self._lines.append((step.tree, part.label, part.text))

    def choose(self) -> Step:
        road = self._one_of(self._roads)
        kind = self._one_of(_MIX)
        if kind == PATCH and road in ONE_AT_A_TIME:
            kind = APPEND
        if len(self._lines) > _MOST_LINES and kind in (APPEND, INSERT):
            kind = REMOVE
        if kind in (REPLACE, REMOVE) and not self._lines:
            kind = APPEND
        tree = self._one_of({MAIN: 4, LINKED: 1})
        if kind == PATCH:
            parts = self._patch(tree)
        elif kind in (REPLACE, REMOVE):
            tree, label, line = self._chance.choice(self._lines)
            parts = [Part(kind, label, self._line(0) if kind == REPLACE else "", line)]
        else:
            label = self._chance.choice(BLOCKS)
            at = self._chance.choice((0, -1, 1, 3, 9)) if kind == INSERT else 0
            parts = [Part(kind, label, "" if kind == UNDO else self._line(0), at=at)]
        step = Step(self.who, self.next, road, tree, tuple(parts))
        self.next += 1
        return step

    def _patch(self, tree: str) -> list[Part]:
        """Return edits of two or three blocks, over both stores more often than not."""
        labels = self._chance.sample(BLOCKS, self._chance.choice((2, 3)))
        if USER_BLOCK not in labels and self._chance.random() < 0.5:
            labels[0] = USER_BLOCK
        parts = []
        for index, label in enumerate(labels):
            mine = [line for where, of, line in self._lines if (where, of) == (tree, label)]
            kind = self._chance.choice((APPEND, APPEND, INSERT, REPLACE, REMOVE))
            if kind in (REPLACE, REMOVE) and mine:
                text = self._line(index) if kind == REPLACE else ""
                parts.append(Part(kind, label, text, self._chance.choice(mine)))
            else:
                parts.append(Part(APPEND, label, self._line(index)))
        return parts

    def _line(self, index: int) -> str:
        return line_of(self.who, self.next, index, self._chance)

    def _one_of(self, shares: dict[str, int]) -> str:
        return self._chance.choices(list(shares), list(shares.values()))[0]


def key_of(tree: str, label: str) -> str:
    """Return what tells a block file from all others; the user's is the same from every tree."""
    return f"|{label}" if label == USER_BLOCK else f"{tree}|{label}"


def line_of(who: str, number: int, index: int, chance: random.Random) -> str:
    """Return a line that is written once: its name, words, and their sum."""
    words = " ".join(chance.choices(_WORDS, k=chance.randint(1, 8)))
    text = f"{who}-{number:05}-{index} {words}"
    return f"{text} #{zlib.crc32(text.encode())}"


def whole(line: str) -> bool:
    """Tell whether a line is one of ours, from its first byte to its last."""
    found = _LINE.fullmatch(line)
    return found is not None and int(found[2]) == zlib.crc32(line.rpartition(" #")[0].encode())


def mentioned(text: str) -> Iterator[str]:
    """Yield every line of ours that a text holds and that looks whole."""
    for found in _LINE.finditer(text):
        yield found[0]
