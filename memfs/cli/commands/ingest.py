"""`memfs ingest`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

import click

from memfs.cli import context, screen
from memfs.ops import ingest as op


@click.command("ingest")
@click.argument("paths", nargs=-1, type=click.Path())
@context.json_option
def command(paths: tuple[str, ...], as_json: bool) -> None:
    """Read transcripts into recall: files, folders, or (with no PATHS) all of this project.

    Only what is new is read, exactly once. Formats are told by content, not by name.
    """
    place = context.place()
    planned = op.plan(place, list(paths), context.home())
    with screen.progress(len(planned), "reading") as tick:
        counter = screen.Counter("indexed")
        tally = op.run(place, planned, tick, counter)
        counter.clear()
    if as_json:
        screen.as_json({**asdict(tally), "skipped": tally.skipped or []})
        return
    screen.done(
        f"{tally.messages:,} new messages in {tally.sessions:,} sessions, "
        f"from {tally.files:,} files"
    )
    if tally.malformed:
        screen.talk(f"  {tally.malformed:,} malformed lines were skipped")
    for reason, count in Counter(reason for _, reason in tally.skipped or []).most_common():
        screen.talk(f"  {count:,} files skipped: {reason}")
