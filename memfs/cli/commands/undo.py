"""`memfs undo`."""

from __future__ import annotations

import click

from memfs.cli import console, options
from memfs.cli.completion import LABEL
from memfs.cli.edit_output import format_entry, format_remainder
from memfs.ops import history


@click.command("undo")
@click.argument("label", type=LABEL)
@options.reason_option
@options.session_option
def command(label: str, reason: str, session: str) -> None:
    """Take back the last edit of a block; again takes back the one before it.

    The file gets back the very bytes it had. An undo is an edit like others: `memfs log` shows
    it, and `memfs restore` brings any version back.
    """
    undone = history.undo(options.place(session), label, options.get_origin(reason, session))
    for entry in undone.entries:
        console.print_done(
            f"{format_entry(entry)} (took back {undone.undone.op}, version {undone.undone.version})"
        )
    format_remainder(undone.note)
