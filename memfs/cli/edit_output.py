"""Shared by the commands that edit: texts from stdin, the editor, printing outcomes."""

from __future__ import annotations

import sys
from typing import assert_never

from memfs.cli import console
from memfs.cli.editor import open_editor
from memfs.core.block import WARN_AT
from memfs.core.body_edits import Rejected, Rethink
from memfs.core.errors import RejectedError, UsageError
from memfs.core.records import JournalEntry, Origin
from memfs.ops import edit, show
from memfs.ops.edit import Edited, Outcome, Unchanged
from memfs.store import blocks
from memfs.store.blocks import Place


def text_of(argument: str) -> str:
    """Return an argument, or all of stdin for `-`, as UTF-8 whatever the locale is."""
    if argument == "-":
        if sys.stdin.isatty():
            console.talk("reading from the terminal; end with Ctrl-D")
        data = sys.stdin.buffer.read()
    else:
        data = argument.encode("utf-8", "surrogateescape")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError("the text is not UTF-8", f"byte {error.start} is not") from error


def in_editor(place: Place, label: str, who: Origin) -> None:
    """Let the user edit a block in an editor.

    An unchanged text is not written. An edit that somebody else made meanwhile is not overwritten.
    A refused text stays in the temporary file.
    """
    shown = show.run(place, label)
    block = shown.block
    with open_editor(block.body, block.label) as text:
        if text == block.body:
            console.print_done(f"{block.label} is as it was")
            return
        name = f"{block.tier}:{block.label}"
        report(edit.run(place, [Rethink(name, text)], who, [shown.version]))


def report(outcome: Outcome) -> None:
    """Print the outcome of an edit. Raises `RejectedError` if it was refused."""
    match outcome:
        case Rejected():
            raise RejectedError(outcome.message, outcome.hint)
        case Unchanged():
            console.print_done(
                f"{outcome.label} is as it was" if outcome.label else "nothing to do"
            )
        case Edited():
            for entry in outcome.entries:
                console.print_done(format_entry(entry))
            format_remainder(outcome.note)
        case _:
            assert_never(outcome)


def format_remainder(text: str) -> None:
    """Print the note of an edit, if it has one."""
    if text:
        console.talk(f"  {text}")


def format_entry(entry: JournalEntry) -> str:
    """Return one line that describes a journal entry."""
    name = f"{entry.tier}:{entry.label}"
    if entry.after is None:
        return f"{name} version {entry.version}: removed ({entry.op})"
    block = blocks.make(entry.tier, entry.label, "", entry.after)
    size = f"{block.chars:,} of {block.limit:,} characters"
    full = "; nearly full" if block.chars >= WARN_AT * block.limit else ""
    over = "; over the limit" if block.chars > block.limit else full
    return f"{name} version {entry.version}: {entry.op}, {size}{over}"
