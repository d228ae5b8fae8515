"""`memfs diff`."""

from __future__ import annotations

import click

from memfs.cli import context, screen
from memfs.ops import history

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command("diff")
@click.argument("label", type=context.Label())
@click.argument("old", type=click.IntRange(0), required=False)
@click.argument("new", type=click.IntRange(0), required=False)
@context.session_option
def command(label: str, old: int | None, new: int | None, session: str) -> None:
    """Show what changed in a block: by the last edit, or between versions OLD and NEW."""
    found = history.diff(context.place(session), label, old, new)
    if not found.text:
        screen.talk("no difference")
    for line in found.text.splitlines():
        colour = _COLOURS.get(line[:1], "")
        screen.styled(screen.style(line, colour) if colour else line)
