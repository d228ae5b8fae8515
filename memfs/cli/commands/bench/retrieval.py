"""`memfs bench retrieval`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memfs.bench import retrieval as bench
from memfs.cli import console, layout, options, progress
from memfs.cli.commands.bench import plot_option, write_plot

if TYPE_CHECKING:
    from memfs.bench.retrieval import RetrievalScore
    from memfs.search.engine import Mode


@click.command("retrieval")
@click.argument("corpus", type=click.Path())
@click.argument("queries", type=click.Path())
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "text", "semantic"]),
    default="hybrid",
    show_default=True,
    help="By words and meaning, or by one of them.",
)
@plot_option
@options.json_option
def command(corpus: str, queries: str, mode: str, plot: str, as_json: bool) -> None:
    """Measure recall and MRR on a corpus and queries with known answers (JSONL).

    Held against the bare engines, and by words and meaning also against each of them alone.
    """
    chosen: Mode = "text" if mode == "text" else "semantic" if mode == "semantic" else "hybrid"
    total = bench.count_queries(queries)
    with progress.show_progress(total, "searching") as tick:
        report = bench.run(corpus, queries, chosen, tick)
    write_plot(plot, bench.figure(report))
    if as_json:
        console.as_json(report.record())
        return
    depths = [f"R@{depth}" for depth in bench.DEPTHS]
    rows = [("CATEGORY", "QUERIES", *depths, "MRR")]
    rows += [_render_row(*each) for each in sorted(report.by_category.items())]
    rows += [_render_row("overall", report.overall)]
    right = tuple(range(1, 7))
    console.echo(layout.table(rows, right=right))
    compared = [("SEARCH", "QUERIES", *depths, "MRR")]
    compared.append(_render_row(f"memfs, {chosen}", report.overall))
    compared += [_render_row(*each) for each in report.alone.items()]
    console.echo("\n" + layout.table(compared, right=right))


def _render_row(name: str, score: RetrievalScore) -> tuple[str, ...]:
    most = max(1, score.queries)
    shares = [f"{total / most:.1%}" for total in score.recall.values()]
    return (name or "-", str(score.queries), *shares, f"{score.reciprocal / most:.3f}")
