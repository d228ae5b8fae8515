"""What the commands that edit have in common: texts from stdin, and how an outcome is told."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, assert_never

from memfs.cli import screen
from memfs.core.edits import Rejected
from memfs.core.errors import RejectedError
from memfs.ops.edit import Edited, Outcome, Unchanged
from memfs.store import blocks

if TYPE_CHECKING:
    from memfs.core.records import Entry


def text_of(argument: str) -> str:
    """Return an argument, or all of stdin for `-`."""
    if argument != "-":
        return argument
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")


def report(outcome: Outcome) -> None:
    """Tell what an edit did; a refusal becomes the error that `main` prints."""
    match outcome:
        case Rejected():
            raise RejectedError(outcome.message, outcome.hint)
        case Unchanged():
            screen.done(f"{outcome.label} is as it was" if outcome.label else "nothing to do")
        case Edited():
            for entry in outcome.entries:
                screen.done(told(entry))
        case _:
            assert_never(outcome)


def told(entry: Entry) -> str:
    """Say in one line what a journal entry did."""
    name = f"{entry.tier}:{entry.label}"
    if entry.after is None:
        return f"{name} version {entry.version}: removed ({entry.op})"
    block = blocks.make(entry.tier, entry.label, "", entry.after)
    size = f"{block.chars:,} of {block.limit:,} characters"
    full = "; nearly full" if block.chars >= 0.8 * block.limit else ""
    return f"{name} version {entry.version}: {entry.op}, {size}{full}"
