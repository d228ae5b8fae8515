"""`memfs bench search`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memfs.bench import search as bench
from memfs.cli import console, layout, options
from memfs.cli.commands.bench import plot_option, write_plot
from memfs.cli.wording import format_size
from memfs.core.errors import UsageError

if TYPE_CHECKING:
    from memfs.bench.search import SearchReport


_UNITS = {"k": 1_000, "m": 1_000_000}


@click.command("search")
@click.option(
    "--sizes",
    default="1k,10k,100k",
    show_default=True,
    metavar="N,N…",
    help="How many passages; 1M takes about ten minutes and 4 GB of disk.",
)
@options.number_option("--rounds", help="Queries of a warm process.", default=300, least=5)
@options.number_option("--cold", help="Processes that are started for one query.", default=21)
@click.option(
    "--cache",
    type=click.Path(file_okay=False),
    default="",
    metavar="DIR",
    help="Keep the generated stores and indexes here for the next run.",
)
@plot_option
@options.json_option
def command(sizes: str, rounds: int, cold: int, cache: str, plot: str, as_json: bool) -> None:
    """Time searching as the memory grows, against the bare engines and a bare start.

    Warm: one process that keeps its index open. Cold: a process for each query. The passages are
    made of what the Python standard library says about itself.
    """
    report = bench.run(parse_sizes(sizes), rounds, cold, cache, console.talk)
    write_plot(plot, bench.figure(report))
    if as_json:
        console.as_json(asdict(report))
    else:
        _show(report)


def _show(report: SearchReport) -> None:
    rows = [("PASSAGES", "", "P50", "P95", "P99", "RATIO")]
    rows += [
        (
            f"{t.passages:,}",
            t.name,
            f"{t.p50:.2f} ms",
            f"{t.p95:.2f} ms",
            f"{t.p99:.2f} ms",
            "-" if t.ratio is None else f"{t.ratio:.2f}",
        )
        for t in report.timings
    ]
    console.echo(layout.table(rows, right=(0, 2, 3, 4, 5)))
    sizes = [["PASSAGES", "RECALL", "WORDS", "VECTORS", "GRAPH", "MEMORY COLD", "WARM"]]
    for each in report.space:
        counts = (each.recall, each.words, each.vectors, each.graph, each.cold, each.warm)
        sizes.append([f"{each.passages:,}", *(format_size(count) for count in counts)])
    console.echo("\n" + layout.table(sizes, right=tuple(range(7))))


def parse_sizes(text: str) -> tuple[int, ...]:
    """Return the numbers of passages that `1k,10k,1M` means. Raises `MemfsError`."""
    try:
        found = tuple(_parse_size(part.strip().lower()) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or min(found) < 1:
        raise UsageError(f"{text!r} is no list of sizes", "write 1k,10k,1M")
    return found


def _parse_size(text: str) -> int:
    return int(text[:-1]) * _UNITS[text[-1]] if text[-1:] in _UNITS else int(text)
