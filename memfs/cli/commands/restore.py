"""`memfs restore`."""

from __future__ import annotations

import click

from memfs.cli import console, options
from memfs.cli.completion import LABEL
from memfs.cli.edit_output import format_entry, format_remainder
from memfs.ops import history


@click.command("restore")
@click.argument("label", type=LABEL)
@click.argument("version")
@options.reason_option
@options.session_option
def command(label: str, version: str, reason: str, session: str) -> None:
    """Make an earlier version of a block current again, as a new version.

    VERSION is a number or the id of a commit, as memfs log shows them.
    """
    place = options.place(session)
    restored = history.restore(place, label, version, options.get_origin(reason, session))
    for entry in restored.entries:
        console.print_done(format_entry(entry))
    format_remainder(restored.note)
    if not restored.entries:
        console.print_done(f"{label} is as it was in version {version} already")
