"""`memfs bench web`."""

from __future__ import annotations

from dataclasses import asdict

import click

from memfs.bench import web as bench
from memfs.cli import console, layout, options, progress


@click.command("web")
@options.number_option("--rounds", help="Times that each page is asked for.", default=20, least=5)
@options.number_option("--items", help="Messages in the store.", default=20000)
@options.json_option
def command(rounds: int, items: int, as_json: bool) -> None:
    """Time the pages of `memfs web` against reading what they show.

    A store of sessions of 100 messages and 10 blocks; a second run with --items 1000000 says how
    the pages grow.
    """
    with progress.show_stages() as stage:
        timings = bench.run(rounds, items, stage)
    if as_json:
        console.as_json([asdict(timing) for timing in timings])
        return
    rows = [("PAGE", "MEDIAN", "P95", "ITS ROWS", "RATIO")]
    for each in timings:
        floor = (f"{each.rows:.1f} ms", f"{each.ratio:.1f}") if each.rows else ("-", "-")
        rows.append((each.name, f"{each.median:.1f} ms", f"{each.p95:.1f} ms", *floor))
    console.echo(layout.table(rows, right=(1, 2, 3, 4)))
