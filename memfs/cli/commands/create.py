"""`memfs create`."""

from __future__ import annotations

import click

from memfs.cli import options
from memfs.cli.block_options import block_options
from memfs.cli.edit_output import report, text_of
from memfs.core import label as labels
from memfs.core.body_edits import Create
from memfs.ops import edit


@click.command("create")
@click.argument("label")
@click.argument("value", default="")
@block_options
@options.reason_option
def command(
    label: str,
    value: str,
    description: str | None,
    limit: int | None,
    pinned: bool | None,
    tags: tuple[str, ...],
    priority: int | None,
    reason: str,
) -> None:
    """Make a new block. VALUE is what it holds at first (`-` reads it from stdin).

    The description tells the assistant what belongs into it. LABEL may name a tier: user:human.
    """
    place = options.place()
    if labels.parse(label)[0] is None:
        options.confirm_own_store(place)
    create = Create(
        label,
        description or "",
        text_of(value),
        limit or 0,
        pinned is not False,
        tags,
        priority or 0,
    )
    report(edit.run(place, [create], options.get_origin(reason)))
