"""`memfs bench`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memfs.cli import context, screen

if TYPE_CHECKING:
    from memfs.search.engine import Mode


@click.group("bench")
def command() -> None:
    """Measure memfs on this machine, each figure against its floor in the same run."""


@command.command("hook")
@click.option("--rounds", type=click.IntRange(5), default=60, show_default=True,
               help="Calls of each process.")  # fmt: skip
@context.json_option
def hook(rounds: int, as_json: bool) -> None:
    """Time the prompt hook against a bare start of the interpreter.

    10 blocks with 39 kB; alone, and with a recall of 10,000 messages that every prompt searches.
    """
    from memfs.bench import hook as bench

    with screen.progress(rounds + 2, "timing") as tick:
        timings = bench.run(rounds, tick)
    if as_json:
        screen.as_json([asdict(timing) for timing in timings])
        return
    rows = [("PROCESS", "MEDIAN", "P95", "RATIO")]
    rows += [(t.name, f"{t.median:.2f} ms", f"{t.p95:.2f} ms", f"{t.ratio:.2f}") for t in timings]
    screen.styled(screen.table(rows, right=(1, 2, 3)))


@command.command("retrieval")
@click.argument("corpus", type=click.Path())
@click.argument("queries", type=click.Path())
@click.option("--mode", type=click.Choice(["hybrid", "text", "semantic"]), default="hybrid",
              show_default=True, help="By words and meaning, or by one of them.")  # fmt: skip
@context.json_option
def retrieval(corpus: str, queries: str, mode: str, as_json: bool) -> None:
    """Measure recall and MRR on a corpus and queries with known answers (JSONL)."""
    from memfs.bench import retrieval as bench

    chosen: Mode = "text" if mode == "text" else "semantic" if mode == "semantic" else "hybrid"
    total = bench.count(queries)
    with screen.progress(total, "searching") as tick:
        report = bench.run(corpus, queries, chosen, tick)
    if as_json:
        screen.as_json(report.record())
        return
    rows = [("CATEGORY", "QUERIES", *(f"R@{depth}" for depth in bench.DEPTHS), "MRR")]
    for name, score in [*sorted(report.by_category.items()), ("overall", report.overall)]:
        most = max(1, score.queries)
        shares = [f"{score.recall[depth] / most:.1%}" for depth in bench.DEPTHS]
        rows.append((name or "-", str(score.queries), *shares, f"{score.reciprocal / most:.3f}"))
    screen.styled(screen.table(rows, right=(1, 2, 3, 4, 5, 6)))


@command.command("ingest")
@click.option("--size", type=click.IntRange(1), default=200, show_default=True,
               help="Megabytes of transcripts.")  # fmt: skip
@context.json_option
def ingest(size: int, as_json: bool) -> None:
    """Time ingestion against json.loads and bare tantivy over the same bytes.

    The transcripts are made of Python's own sources and docstrings.
    """
    from memfs.bench import ingest as bench

    wanted = size * 1_000_000
    with screen.stages(in_bytes=("writing transcripts",)) as stage:
        speeds = bench.run(wanted, stage("writing transcripts", wanted))
    if as_json:
        screen.as_json([asdict(speed) for speed in speeds])
        return
    rows = [("STEP", "TIME", "SPEED", "DOCUMENTS/S", "MEMORY", "RATIO")]
    for each in speeds:
        speed = f"{screen.size(each.bytes / each.seconds)}/s"
        documents = f"{each.documents / each.seconds:,.0f}"
        ratio = f"{each.ratio:.2f}" if each.ratio else "-"
        row = (each.name, f"{each.seconds:.2f} s", speed, documents)
        rows.append((*row, screen.size(each.memory), ratio))
    screen.styled(screen.table(rows, right=(1, 2, 3, 4, 5)))
