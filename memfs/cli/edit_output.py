"""Prints what edits did."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, assert_never

from memfs.cli import console
from memfs.core.block import WARN_AT
from memfs.core.errors import RejectedError
from memfs.core.records import JournalEntry
from memfs.store import blocks

if TYPE_CHECKING:
    from memfs.core.block_states import ContradictedLine
    from memfs.ops.edit import Outcome


def report(outcome: Outcome) -> None:
    """Print the outcome of an edit. Raises `RejectedError` if it was refused."""
    from memfs.core.body_edits import Rejected  # with all that edits, which `log` needs not
    from memfs.ops.edit import Edited, Unchanged  # likewise

    match outcome:
        case Rejected():
            raise RejectedError(outcome.message, outcome.hint)
        case Unchanged():
            console.print_done(
                f"'{outcome.label}' is unchanged" if outcome.label else "nothing to do"
            )
        case Edited():
            for entry in outcome.entries:
                console.print_done(format_entry(entry))
            format_remainder(outcome.note)
            session = shlex.quote(outcome.entries[0].session)  # whose scratch block it may be
            for each in outcome.contradicted:
                whose = f" --session {session}" if each.label.startswith("session:") else ""
                console.talk(
                    f"! line {each.number} contradicts your edit; if the line is outdated, run: "
                    f"memfs edit {each.label}{whose} {_word_mend(each)}"
                )
        case _:
            assert_never(outcome)


def _word_mend(line: ContradictedLine) -> str:
    if line.new:
        return f"--replace {_quote(line.old)} {_quote(line.new)}"
    return f"--remove {_quote(line.old)}"


def _quote(text: str) -> str:
    if "\n" not in text and "\t" not in text:
        return shlex.quote(text)
    for sign, escape in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(sign, escape)
    return f"$'{text}'"


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
    size = f"{block.chars:,} of {block.limit:,} characters{block.size_in_tokens}"
    full = "; nearly full" if block.fill >= WARN_AT else ""
    over = "; over the limit" if block.fill > 1 else full
    return f"{name} version {entry.version}: {entry.op}, {size}{over}"
