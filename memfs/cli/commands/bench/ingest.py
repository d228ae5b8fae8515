"""`memfs bench ingest`."""

from __future__ import annotations

from dataclasses import asdict

import click

from memfs.bench import ingest as bench
from memfs.cli import console, layout, options, progress
from memfs.cli.wording import format_size


@click.command("ingest")
@options.number_option("--size", help="Megabytes of transcripts.", default=200)
@click.option(
    "--from",
    "folder",
    type=click.Path(exists=True, file_okay=False),
    metavar="FOLDER",
    help="Read the transcripts in a folder, and make none.",
)
@options.json_option
def command(size: int, folder: str | None, as_json: bool) -> None:
    """Time ingestion against json.loads and bare tantivy over the same bytes.

    RATIO is to a floor that indexes every line as it is, OF TEXTS to one that indexes only the
    texts in it. The transcripts are made of Python's own sources and docstrings, or are your own.
    """
    length = size * 1_000_000
    with progress.show_stages(in_bytes=("writing transcripts",)) as stage:
        tick = _ignore_progress if folder else stage("writing transcripts", length)
        speeds = bench.run(length, tick, folder or "")
    if as_json:
        console.as_json([asdict(speed) for speed in speeds])
        return
    rows = [("STEP", "TIME", "SPEED", "DOCUMENTS/S", "MEMORY", "RATIO", "OF TEXTS")]
    for each in speeds:
        speed = f"{format_size(each.bytes / each.seconds)}/s"
        documents = f"{each.documents / each.seconds:,.0f}"
        row = (each.name, f"{each.seconds:.2f} s", speed, documents)
        rows.append((*row, format_size(each.memory), _format(each.ratio), _format(each.of_texts)))
    console.echo(layout.table(rows, right=(1, 2, 3, 4, 5, 6)))


def _format(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio else "-"


def _ignore_progress(_: int) -> None:
    pass
