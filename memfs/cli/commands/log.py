"""`memfs log`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memfs.cli import context, screen
from memfs.ops import history
from memfs.store import blocks

if TYPE_CHECKING:
    from memfs.core.records import Entry


@click.command("log")
@click.argument("label", required=False, default="", type=context.Label())
@click.option("-n", "--limit", type=click.IntRange(1), default=20, show_default=True,
              help="Edits shown at most.")  # fmt: skip
@context.session_option
@context.json_option
def command(label: str, limit: int, session: str, as_json: bool) -> None:
    """Show who changed a block when and why, newest first; without LABEL, all blocks."""
    entries = history.log(context.place(session), label, limit)
    if as_json:
        screen.as_json([asdict(entry) for entry in entries])
        return
    rows = [("VERSION", "WHEN", "WHO", "BLOCK", "WHAT", "CHARS", "WHY")]
    for entry in entries:
        who = entry.actor + (f" ({entry.host})" if entry.host else "")
        rows.append(
            (str(entry.version), screen.ago(entry.at), who, f"{entry.tier}:{entry.label}",
             entry.op, _growth(entry), screen.shorten(entry.reason, 40))
        )  # fmt: skip
    if entries:
        screen.styled(screen.table(rows, right=(0, 5)))
    else:
        screen.talk("no edits yet")


def _growth(entry: Entry) -> str:
    before, after = _chars(entry, entry.before), _chars(entry, entry.after)
    return f"{after - before:+,}" if after != before else "0"


def _chars(entry: Entry, text: str | None) -> int:
    return 0 if text is None else blocks.make(entry.tier, entry.label, "", text).chars
