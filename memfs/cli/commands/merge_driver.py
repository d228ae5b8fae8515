"""`memfs merge-driver`."""

from __future__ import annotations

import click

from memfs.ops import merge


@click.command("merge-driver")
@click.argument("base", type=click.Path())
@click.argument("ours", type=click.Path())
@click.argument("theirs", type=click.Path())
def command(base: str, ours: str, theirs: str) -> None:
    """Merge THEIRS into OURS, both made from BASE: git calls this for blocks.

    `memfs init` registers it in a clone. Front matter is merged by rule, bodies by line: what
    either side wrote is kept.
    """
    merge.run(base, ours, theirs)
