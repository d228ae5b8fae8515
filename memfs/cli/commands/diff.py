"""`memfs diff`."""

from __future__ import annotations

from dataclasses import asdict

import click

from memfs.cli import context, screen
from memfs.cli.diff import show
from memfs.ops import history


@click.command("diff")
@click.argument("label", type=context.Label())
@click.argument("old", type=click.IntRange(0), required=False)
@click.argument("new", type=click.IntRange(0), required=False)
@context.session_option
@context.json_option
def command(label: str, old: int | None, new: int | None, session: str, as_json: bool) -> None:
    """Show what changed in a block: by the last edit, or between versions OLD and NEW."""
    found = history.diff(context.place(session), label, old, new)
    if as_json:
        screen.as_json(asdict(found))
        return
    if not found.text:
        screen.talk("no difference")
    show(found.text)
