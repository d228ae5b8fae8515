"""`memfs restore`."""

from __future__ import annotations

import click

from memfs.cli import context, screen
from memfs.cli.edits import note, told
from memfs.ops import history


@click.command("restore")
@click.argument("label", type=context.Label())
@click.argument("version")
@context.reason_option
@context.session_option
def command(label: str, version: str, reason: str, session: str) -> None:
    """Make an earlier version of a block current again, as a new version.

    VERSION is a number or the id of a commit, as memfs log shows them.
    """
    place = context.place(session)
    restored = history.restore(place, label, version, context.origin(reason, session))
    for entry in restored.entries:
        screen.done(told(entry))
    note(restored.note)
    if not restored.entries:
        screen.done(f"{label} is as it was in version {version} already")
