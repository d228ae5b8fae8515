"""`memfs delete`."""

from __future__ import annotations

import click

from memfs.cli import context
from memfs.cli.edits import report
from memfs.core.edits import Delete
from memfs.ops import edit


@click.command("delete")
@click.argument("label", type=context.Label())
@context.reason_option
@context.session_option
def command(label: str, reason: str, session: str) -> None:
    """Delete a block. Its text stays in the history: `memfs undo LABEL` brings it back."""
    place = context.place(session)
    report(edit.run(place, [Delete(label)], context.origin(reason, session)))
