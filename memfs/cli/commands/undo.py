"""`memfs undo`."""

from __future__ import annotations

import click

from memfs.cli import context, screen
from memfs.cli.edits import note, told
from memfs.ops import history


@click.command("undo")
@click.argument("label", type=context.Label())
@context.reason_option
@context.session_option
def command(label: str, reason: str, session: str) -> None:
    """Take back the last edit of a block; again takes back the one before it.

    The file gets back the very bytes it had. An undo is an edit like others: `memfs log` shows
    it, and `memfs restore` brings any version back.
    """
    undone = history.undo(context.place(session), label, context.origin(reason, session))
    for entry in undone.entries:
        screen.done(
            f"{told(entry)} (took back {undone.undone.op}, version {undone.undone.version})"
        )
    note(undone.note)
