"""`memfs diff`."""

from __future__ import annotations

from dataclasses import asdict

import click

from memfs.cli import console, options
from memfs.cli.block_version import split_version
from memfs.cli.completion import LABEL
from memfs.cli.diff import show
from memfs.cli.pager import paged
from memfs.ops import history


@click.command("diff")
@click.argument("label", type=LABEL)
@click.argument("old", required=False, default="")
@click.argument("new", required=False, default="")
@options.session_option
@options.json_option
@paged
def command(label: str, old: str, new: str, session: str, as_json: bool) -> None:
    """Show what changed in a block: last, or between OLD and NEW (or OLD and now).

    Both are versions, or ids of commits, as memfs log shows them. LABEL@OLD does as well: LABEL@-1
    is the version before the current one.
    """
    label, at = split_version(label)
    if at and new:
        raise click.UsageError(f"three versions are named: {at}, {old} and {new}")
    if at:
        old, new = at, old
    new = new.removeprefix(f"{label}@")
    found = history.diff(options.place(session), label, old, new)
    if as_json:
        console.as_json(asdict(found))
        return
    if not found.text:
        console.talk("no difference")
    show(found.text)
