"""`memfs blocks`."""

from __future__ import annotations

import click

from memfs.cli import console, options
from memfs.ops import show as op


@click.command("blocks")
@options.session_option
@options.json_option
def command(session: str, as_json: bool) -> None:
    """List the blocks of all tiers, with how full they are."""
    place = options.place(session)
    listed = op.show_all(place)
    if as_json:
        console.as_json([op.record(shown) for shown in listed])
        return
    rows = [("TIER", "LABEL", "USED", "", "CHARS", "VERSION", "")]
    for shown in listed:
        block = shown.block
        share = block.chars / block.limit
        marks = [
            mark
            for mark, there in (
                ("read-only", block.read_only),
                ("unpinned", not block.pinned),
                ("broken: memfs doctor", bool(block.problem)),
            )
            if there
        ]
        chars = f"{block.chars:,} / {block.limit:,}"
        rows.append(
            (
                block.tier,
                block.label,
                console.bar(share),
                f"{share:.0%}",
                chars,
                str(shown.version),
                ", ".join(marks),
            )
        )
    if len(rows) == 1:
        console.talk("no blocks yet; make one with: memfs create LABEL DESCRIPTION")
    else:
        console.echo(console.table(rows, right=(3, 4, 5)))
