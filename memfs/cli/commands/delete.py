"""`memfs delete`."""

from __future__ import annotations

import click

from memfs.cli import options
from memfs.cli.completion import LABEL
from memfs.cli.edit_output import report
from memfs.core.body_edits import Delete
from memfs.ops import edit


@click.command("delete")
@click.argument("label", type=LABEL)
@options.reason_option
@options.session_option
def command(label: str, reason: str, session: str) -> None:
    """Delete a block. Its text stays in the history: `memfs undo LABEL` brings it back."""
    place = options.place(session)
    report(edit.run(place, [Delete(label)], options.get_origin(reason, session)))
