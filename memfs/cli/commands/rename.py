"""`memfs rename`."""

from __future__ import annotations

import click

from memfs.cli import options
from memfs.cli.completion import LABEL
from memfs.cli.edit_output import report
from memfs.core.body_edits import Rename
from memfs.ops import edit


@click.command("rename")
@click.argument("label", type=LABEL)
@click.argument("new")
@options.reason_option
def command(label: str, new: str, reason: str) -> None:
    """Give a block another label, in the same tier."""
    report(edit.run(options.place(), [Rename(label, new)], options.get_origin(reason)))
