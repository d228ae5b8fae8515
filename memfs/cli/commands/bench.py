"""`memfs bench`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memfs.cli import console, options
from memfs.core.errors import USAGE, MemfsError
from memfs.store import scratch_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.bench.retrieval import RetrievalScore
    from memfs.bench.search import SearchReport
    from memfs.search.engine import Mode


_UNITS = {"k": 1_000, "m": 1_000_000}


def _plot_option(function: Callable[..., object]) -> Callable[..., object]:
    return click.option(
        "--plot",
        "plot",
        type=click.Path(dir_okay=False),
        metavar="FILE.svg",
        default="",
        help="Draw the figures into an SVG file, too.",
    )(function)


def _nothing(_: int) -> None:
    pass


@click.group("bench")
@click.pass_context
def command(running: click.Context) -> None:
    """Measure memfs on this machine, each figure against its floor in the same run."""
    running.with_resource(scratch_store.home())


@command.command("hook")
@click.option(
    "--rounds", type=click.IntRange(5), default=60, show_default=True, help="Calls of each process."
)
@click.option(
    "--items",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="Messages that every prompt searches.",
)
@_plot_option
@options.json_option
def hook(rounds: int, items: int, plot: str, as_json: bool) -> None:
    """Time the prompt hook against a bare start of the interpreter.

    10 blocks with 39 kB; alone, with a recall that every prompt searches by words, by meaning too,
    and so with the service at hand.
    """
    from memfs.bench import hook as bench

    with console.stages() as stage:
        timings = bench.run(rounds, items, stage)
    _draw(plot, bench.figure(timings))
    if as_json:
        console.as_json([asdict(timing) for timing in timings])
        return
    rows = [("PROCESS", "MEDIAN", "P95", "RATIO")]
    rows += [(t.name, f"{t.median:.2f} ms", f"{t.p95:.2f} ms", f"{t.ratio:.2f}") for t in timings]
    console.styled(console.table(rows, right=(1, 2, 3)))


@command.command("retrieval")
@click.argument("corpus", type=click.Path())
@click.argument("queries", type=click.Path())
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "text", "semantic"]),
    default="hybrid",
    show_default=True,
    help="By words and meaning, or by one of them.",
)
@_plot_option
@options.json_option
def retrieval(corpus: str, queries: str, mode: str, plot: str, as_json: bool) -> None:
    """Measure recall and MRR on a corpus and queries with known answers (JSONL).

    Held against the bare engines, and by words and meaning also against each of them alone.
    """
    from memfs.bench import retrieval as bench

    chosen: Mode = "text" if mode == "text" else "semantic" if mode == "semantic" else "hybrid"
    total = bench.count_queries(queries)
    with console.progress(total, "searching") as tick:
        report = bench.run(corpus, queries, chosen, tick)
    _draw(plot, bench.figure(report))
    if as_json:
        console.as_json(report.record())
        return
    depths = [f"R@{depth}" for depth in bench.DEPTHS]
    rows = [("CATEGORY", "QUERIES", *depths, "MRR")]
    rows += [_found(*each) for each in sorted(report.by_category.items())]
    rows += [_found("overall", report.overall)]
    right = tuple(range(1, 7))
    console.styled(console.table(rows, right=right))
    held = [("SEARCH", "QUERIES", *depths, "MRR"), _found(f"memfs, {chosen}", report.overall)]
    held += [_found(*each) for each in report.alone.items()]
    console.styled("\n" + console.table(held, right=right))


@command.command("recall")
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE.json…")
@click.option("--no-service", is_flag=True, help="Without the service: by words alone.")
@options.json_option
def recall(files: tuple[str, ...], no_service: bool, as_json: bool) -> None:
    """Measure how often the answer reaches the prompt: scenarios, end to end.

    Each file holds the past sessions of a project and prompts of later sessions, with what must
    reach them (memfs/bench/scenarios.py describes the form). The sessions are ingested, and each
    prompt goes through the hook. BRIEF and REPLY are mean sizes in UTF-16 units.
    """
    from memfs.bench import recall as bench
    from memfs.bench import scenarios

    played = [scenarios.read(path) for path in files]
    with console.stages() as stage:
        outcomes = bench.run(played, stage, service=not no_service)
    if as_json:
        console.as_json([asdict(outcome) for outcome in outcomes])
        return
    rows = [("KIND", "PROMPTS", "ANSWERED", "MISLED", "SILENT", "BRIEF", "REPLY", "TIME")]
    rows += [
        (
            row.kind,
            str(row.prompts),
            f"{row.answered / max(1, row.prompts):.0%}",
            str(row.misled),
            f"{row.silent / max(1, row.prompts):.0%}",
            f"{row.brief:,.0f}",
            f"{row.reply:,.0f}",
            f"{row.milliseconds:.1f} ms",
        )
        for row in bench.by_kind(outcomes)
    ]
    console.styled(console.table(rows, right=tuple(range(1, 8))))


@command.command("precision")
@click.argument("corpus", type=click.Path())
@click.argument("queries", type=click.Path())
@options.json_option
def precision(corpus: str, queries: str, as_json: bool) -> None:
    """Measure what must not come back: what is superseded, resolved, or of another project.

    Facts in the stores they belong to against plain search over all of them (JSONL).
    """
    from memfs.bench import precision as bench

    with console.progress(0, "asking") as tick:
        found = bench.run(corpus, queries, tick)
    if as_json:
        console.as_json([asdict(row) for row in found])
        return
    rows = [("MEMORY", f"RECALL@{bench.DEPTH}", "MUST NOT COME", "CAME", "FACTS A QUERY")]
    rows += [
        (row.name, f"{row.recall:.1%}", str(row.excluded), str(row.came), f"{row.found:.1f}")
        for row in found
    ]
    console.styled(console.table(rows, right=(1, 2, 3, 4)))


@command.command("ingest")
@click.option(
    "--size",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="Megabytes of transcripts.",
)
@click.option(
    "--from",
    "said",
    type=click.Path(exists=True, file_okay=False),
    metavar="FOLDER",
    help="Read the transcripts in a folder, and make none.",
)
@options.json_option
def ingest(size: int, said: str | None, as_json: bool) -> None:
    """Time ingestion against json.loads and bare tantivy over the same bytes.

    RATIO is to a floor that indexes every line as it is, OF TEXTS to one that indexes only the
    texts in it. The transcripts are made of Python's own sources and docstrings, or are your own.
    """
    from memfs.bench import ingest as bench

    wanted = size * 1_000_000
    with console.stages(in_bytes=("writing transcripts",)) as stage:
        tick = _nothing if said else stage("writing transcripts", wanted)
        speeds = bench.run(wanted, tick, said or "")
    if as_json:
        console.as_json([asdict(speed) for speed in speeds])
        return
    rows = [("STEP", "TIME", "SPEED", "DOCUMENTS/S", "MEMORY", "RATIO", "OF TEXTS")]
    for each in speeds:
        speed = f"{console.format_size(each.bytes / each.seconds)}/s"
        documents = f"{each.documents / each.seconds:,.0f}"
        row = (each.name, f"{each.seconds:.2f} s", speed, documents)
        rows.append(
            (*row, console.format_size(each.memory), _ratio(each.ratio), _ratio(each.of_texts))
        )
    console.styled(console.table(rows, right=(1, 2, 3, 4, 5, 6)))


def _found(name: str, score: RetrievalScore) -> tuple[str, ...]:
    most = max(1, score.queries)
    shares = [f"{total / most:.1%}" for total in score.recall.values()]
    return (name or "-", str(score.queries), *shares, f"{score.reciprocal / most:.3f}")


def _ratio(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio else "-"


@command.command("search")
@click.option(
    "--sizes",
    default="1k,10k,100k",
    show_default=True,
    metavar="N,N…",
    help="How many passages; 1M takes about ten minutes and 4 GB of disk.",
)
@click.option(
    "--rounds",
    type=click.IntRange(5),
    default=300,
    show_default=True,
    help="Queries of a warm process.",
)
@click.option(
    "--cold",
    type=click.IntRange(1),
    default=21,
    show_default=True,
    help="Processes that are started for one query.",
)
@click.option(
    "--cache",
    type=click.Path(file_okay=False),
    default="",
    metavar="DIR",
    help="Keep the generated stores and indexes here for the next run.",
)
@_plot_option
@options.json_option
def search(sizes: str, rounds: int, cold: int, cache: str, plot: str, as_json: bool) -> None:
    """Time searching as the memory grows, against the bare engines and a bare start.

    Warm: one process that keeps its index open. Cold: a process for each query. The passages are
    made of what the Python standard library says about itself.
    """
    from memfs.bench import search as bench

    report = bench.run(_sizes(sizes), rounds, cold, cache, console.talk)
    _draw(plot, bench.figure(report))
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
    console.styled(console.table(rows, right=(0, 2, 3, 4, 5)))
    sizes = [["PASSAGES", "RECALL", "WORDS", "VECTORS", "GRAPH", "MEMORY COLD", "WARM"]]
    for each in report.space:
        counts = (each.recall, each.words, each.vectors, each.graph, each.cold, each.warm)
        sizes.append([f"{each.passages:,}", *(console.format_size(count) for count in counts)])
    console.styled("\n" + console.table(sizes, right=tuple(range(7))))


def _sizes(text: str) -> tuple[int, ...]:
    try:
        found = tuple(_size(part.strip().lower()) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or min(found) < 1:
        raise MemfsError(f"{text!r} is no list of sizes", "write 1k,10k,1M", USAGE)
    return found


def _size(text: str) -> int:
    return int(text[:-1]) * _UNITS[text[-1]] if text[-1:] in _UNITS else int(text)


def _draw(path: str, svg: str) -> None:
    if path:
        try:
            with open(path, "w", encoding="utf-8") as handle:
                handle.write(svg)
        except OSError as error:
            raise MemfsError(f"cannot write {path}: {error.strerror}", "", USAGE) from error
