"""`memfs create`."""

from __future__ import annotations

import click

from memfs.cli import options
from memfs.cli.edit_output import report, text_of
from memfs.core.body_edits import Create
from memfs.ops import edit


@click.command("create")
@click.argument("label")
@click.argument("description")
@click.argument("value", default="")
@options.number_option("--limit", help="Characters at most.")
@click.option("--unpinned", is_flag=True, help="List it in the brief by name; read on demand.")
@click.option("-t", "--tag", multiple=True, help="A tag; may be given several times.")
@options.reason_option
def command(
    label: str,
    description: str,
    value: str,
    limit: int | None,
    unpinned: bool,
    tag: tuple[str, ...],
    reason: str,
) -> None:
    """Make a new block.

    DESCRIPTION tells the assistant what belongs into it; VALUE is what it holds at first (`-`
    reads it from stdin). LABEL may name a tier: user:human.
    """
    create = Create(label, description, text_of(value), limit or 0, not unpinned, tag)
    report(edit.run(options.place(), [create], options.get_origin(reason)))
