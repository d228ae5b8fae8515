"""`memfs rename`."""

from __future__ import annotations

import click

from memfs.cli import context
from memfs.cli.edits import report
from memfs.core.edits import Rename
from memfs.ops import edit


@click.command("rename")
@click.argument("label", type=context.Label())
@click.argument("new")
@context.reason_option
def command(label: str, new: str, reason: str) -> None:
    """Give a block another label, in the same tier."""
    report(edit.run(context.place(), [Rename(label, new)], context.origin(reason)))
