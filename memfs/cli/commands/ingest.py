"""`memfs ingest`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

import click

from memfs.cli import context, screen
from memfs.ops import ingest as op

_NAMED = 5  # skipped files are named up to so many


@click.command("ingest")
@click.argument("paths", nargs=-1, type=click.Path())
@context.json_option
def command(paths: tuple[str, ...], as_json: bool) -> None:
    """Read transcripts into recall: files, folders, or (with no PATHS) all of this project.

    Only what is new is read, exactly once. Formats are told by content, not by name.
    """
    place = context.place()
    planned = op.plan(place, list(paths), context.home())
    with screen.stages(in_bytes=("reading",)) as stage:
        tally = op.run(place, planned, stage)
    if as_json:
        found = {**asdict(tally), "skipped": tally.skipped or []}
        del found["logs"]
        screen.as_json(found)
        return
    screen.done(
        f"{screen.count(tally.messages, 'new message')} in "
        f"{screen.count(tally.sessions, 'session')}, from {screen.count(tally.files, 'file')}"
    )
    if tally.malformed:
        screen.talk(f"  {screen.count(tally.malformed, 'malformed line')} skipped")
    skipped = tally.skipped or []
    for reason, number in Counter(reason for _, reason in skipped).most_common():
        screen.talk(f"  {screen.count(number, 'file')} skipped: {reason}")
        names = [path for path, why in skipped if why == reason]
        for path in names if len(names) <= _NAMED else ():
            screen.talk(f"    {path}")
