"""`memfs bench hook`."""

from __future__ import annotations

from dataclasses import asdict

import click

from memfs.bench import hook as bench
from memfs.cli import console, layout, options, progress
from memfs.cli.commands.bench import plot_option, write_plot


@click.command("hook")
@options.number_option("--rounds", help="Calls of each process.", default=60, least=5)
@options.number_option("--items", help="Messages that every prompt searches.", default=10000)
@plot_option
@options.json_option
def command(rounds: int, items: int, plot: str, as_json: bool) -> None:
    """Time the prompt hook against a bare start of the interpreter.

    10 blocks with 39 kB; alone, with a recall that every prompt searches by words, by meaning too,
    and so with the service at hand.
    """
    with progress.show_stages() as stage:
        timings = bench.run(rounds, items, stage)
    write_plot(plot, bench.figure(timings))
    if as_json:
        console.as_json([asdict(timing) for timing in timings])
        return
    rows = [("PROCESS", "MEDIAN", "P95", "RATIO")]
    rows += [(t.name, f"{t.median:.2f} ms", f"{t.p95:.2f} ms", f"{t.ratio:.2f}") for t in timings]
    console.echo(layout.table(rows, right=(1, 2, 3)))
