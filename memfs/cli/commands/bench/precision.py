"""`memfs bench precision`."""

from __future__ import annotations

from dataclasses import asdict

import click

from memfs.bench import precision as bench
from memfs.cli import console, layout, options, progress


@click.command("precision")
@click.argument("corpus", type=click.Path())
@click.argument("queries", type=click.Path())
@options.json_option
def command(corpus: str, queries: str, as_json: bool) -> None:
    """Measure what must not come back: what is superseded, resolved, or of another project.

    Facts in the stores they belong to against plain search over all of them (JSONL).
    """
    with progress.show_progress(0, "asking") as tick:
        found = bench.run(corpus, queries, tick)
    if as_json:
        console.as_json([asdict(row) for row in found])
        return
    rows = [("MEMORY", f"RECALL@{bench.DEPTH}", "MUST NOT COME", "CAME", "FACTS A QUERY")]
    rows += [
        (row.name, f"{row.recall:.1%}", str(row.excluded), str(row.came), f"{row.found:.1f}")
        for row in found
    ]
    console.echo(layout.table(rows, right=(1, 2, 3, 4)))
