"""`memfs restore`."""

from __future__ import annotations

import click

from memfs.cli import context, screen
from memfs.cli.edits import note, told
from memfs.ops import history


@click.command("restore")
@click.argument("label", type=context.Label())
@click.argument("version", type=click.IntRange(1))
@context.reason_option
@context.session_option
def command(label: str, version: int, reason: str, session: str) -> None:
    """Make an earlier version of a block current again, as a new version."""
    place = context.place(session)
    restored = history.restore(place, label, version, context.origin(reason, session))
    for entry in restored.entries:
        screen.done(told(entry))
    note(restored.note)
    if not restored.entries:
        screen.done(f"{label} is as it was in version {version} already")
