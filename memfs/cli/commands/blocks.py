"""`memfs blocks`."""

from __future__ import annotations

import click

from memfs.cli import context, screen
from memfs.ops import show as op


@click.command("blocks")
@context.session_option
@context.json_option
def command(session: str, as_json: bool) -> None:
    """List the blocks of all tiers, with how full they are."""
    place = context.place(session)
    listed = op.every(place)
    if as_json:
        screen.as_json([op.record(shown) for shown in listed])
        return
    rows = [("TIER", "LABEL", "USED", "", "CHARS", "VERSION", "")]
    for shown in listed:
        block = shown.block
        share = block.chars / block.limit
        marks = [
            mark
            for mark, there in (
                ("read-only", block.read_only), ("unpinned", not block.pinned),
                ("broken: memfs doctor", bool(block.problem)),
            )
            if there
        ]  # fmt: skip
        chars = f"{block.chars:,} / {block.limit:,}"
        rows.append(
            (block.tier, block.label, screen.bar(share), f"{share:.0%}", chars,
             str(shown.version), ", ".join(marks))
        )  # fmt: skip
    if len(rows) == 1:
        screen.talk("no blocks yet; make one with: memfs create LABEL DESCRIPTION")
    else:
        screen.styled(screen.table(rows, right=(3, 4, 5)))
