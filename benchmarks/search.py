"""The cost of searching as the memory grows: warm and cold, compared with the bare engines.

All cases of a size are timed in turns, query by query, each time in another order: what disturbs
one disturbs all, and none finds the caches as another one left them for it.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field

import click
import numpy as np
from usearch.index import Index
from usearch.index import search as scanned

from benchmarks import command as runner
from benchmarks import passages, plot, project, scratch_store
from memfs.cli import console, layout, options
from memfs.cli.layout import format_size
from memfs.core.errors import UsageError
from memfs.recall.open_store import OpenStore
from memfs.search.engine import Engine
from memfs.search.hybrid import POOL
from memfs.search.lexical import Occur, Query
from memfs.search.semantic import VectorIndex
from memfs.store import blocks, store_paths
from memfs.store.blocks import Place

SIZES = (1_000, 10_000, 100_000)
_BARE = "bare tantivy + usearch"
_COLD = 'python -c "import numpy, usearch.index, tantivy"'
_SEARCH = "import memfs.__main__"
_DONE = "built.json"


@dataclass(frozen=True)
class SearchTiming:
    """Milliseconds, and the ratio of the median to that of the `floor` in the same run."""

    passages: int
    process: str
    name: str
    p50: float
    p95: float
    p99: float
    ratio: float | None
    floor: bool = False


@dataclass(frozen=True)
class SpaceUsage:
    """Bytes: the texts, the two indexes and the graph on disk; the most memory of a process.

    `cold` is that of `memfs search`, `warm` that of one that opened everything and searched.
    """

    passages: int
    recall: int
    words: int
    vectors: int
    graph: int
    cold: int
    warm: int


@dataclass
class SearchReport:
    """All of a run."""

    timings: list[SearchTiming] = field(default_factory=list)
    space: list[SpaceUsage] = field(default_factory=list)


@dataclass
class _Cases:
    """Calls that are timed in turns; the first is the floor."""

    process: str
    calls: dict[str, Callable[[int], object]]
    floors: tuple[str, ...]
    held_against: str
    untimed: int  # rounds before those that count


def run(
    sizes: tuple[int, ...], rounds: int, cold: int, cache: str, tick: Callable[[str], object]
) -> SearchReport:
    """Measure each size: `rounds` queries warm, `cold` processes. `tick` gets a label of each step.

    The generated stores are kept below `cache`, if it is given, and used again.
    """
    report = SearchReport()
    for size in sorted(sizes):
        with _open_folder(cache, size) as folder, scratch_store.home():
            tick(f"{size:,} passages: making and indexing")
            place, index = _open_store(folder, size)
            project.trust_own(folder)
            tick(f"{size:,} passages: searching")
            report.timings += _time_cases(size, _build_warm_cases(index), rounds)
            report.timings += _time_cases(size, _build_scan_cases(index), min(rounds, 50))
            report.timings += _time_cases(size, _build_cold_cases(folder), cold)
            report.space.append(_measure_space(size, folder, place))
    return report


def figure(report: SearchReport) -> str:
    """Draw how the medians grow with the number of passages."""
    names = list(dict.fromkeys((t.process, t.name) for t in report.timings))
    drawn = []
    for process, name in names:
        points = [t for t in report.timings if (t.process, t.name) == (process, name)]
        label = "import numpy, usearch, tantivy" if name == _COLD else name
        drawn.append(plot.PlotLine(label, [(t.passages, t.p50) for t in points], points[0].floor))
    return plot.lines("What one search costs", ("passages", "milliseconds, median"), drawn)


def resident(folder: str, *queries: str, warm: bool) -> None:
    """Open the index, search, and print the peak memory of this process, in bytes.

    Mapped files count as far as they were read. 0 where the system does not say.
    """
    index = OpenStore(_open_place(folder))
    if warm:
        index.warm()
    for query in queries:
        index.update_engine("hybrid").search(query)
    most = 0
    with suppress(OSError), open("/proc/self/status", encoding="ascii") as handle:
        most = next((int(line.split()[1]) for line in handle if line.startswith("VmHWM")), 0)
    sys.stdout.write(str(most * 1024))


@contextmanager
def _open_folder(cache: str, size: int) -> Iterator[str]:
    if cache:
        yield f"{os.path.abspath(cache)}/{size}"
        return
    with tempfile.TemporaryDirectory(prefix="memfs-bench-") as folder:
        yield f"{folder}/{size}"


def _open_store(folder: str, size: int) -> tuple[Place, OpenStore]:
    if not os.path.exists(f"{folder}/{_DONE}"):
        shutil.rmtree(folder, ignore_errors=True)  # of a run that was stopped
        os.makedirs(folder)
        passages.store(folder, size, lambda _: None)
        with open(f"{folder}/{_DONE}", "w", encoding="utf-8") as handle:
            json.dump({"passages": size}, handle)
    place = project.open_own(folder)  # a cached one may be of another user
    index = OpenStore(place)
    index.warm()
    return place, index


def _open_place(folder: str) -> Place:
    return blocks.Place(store_paths.find(folder), None)


def _build_warm_cases(index: OpenStore) -> _Cases:
    """Return warm searches: the bare engines with memfs's own queries, and memfs."""
    engine = index.update_engine("hybrid")
    assert engine.vectors is not None  # noqa: S101 - a hybrid engine has them
    graph = _open_graph(engine.vectors)
    queries = passages.queries(400)
    term_queries = [_build_query(engine, query) for query in queries]
    stem_queries = [engine.text.query(engine.text.parse_terms(query)) for query in queries]
    encoded = engine.vectors.encoder.encode(queries).vectors
    vectors = (encoded * 127).round().astype("int8")

    def search_words(number: int) -> object:
        return engine.text.searcher.search(term_queries[number % 400], POOL, count=False)

    def search_stems(number: int) -> object:
        query = stem_queries[number % 400]
        return engine.text.searcher.search(query, POOL, count=False) if query else None

    def search_graph(number: int) -> object:
        return graph.search(vectors[number % 400], POOL, threads=1)  # type: ignore[attr-defined]

    def search_both(number: int) -> object:
        return search_words(number), search_graph(number)

    calls: dict[str, Callable[[int], object]] = {
        "bare tantivy, all words": search_words,
        "bare tantivy, no stop words": search_stems,
        "bare usearch, graph": search_graph,
        _BARE: search_both,
        "memfs, warm": lambda number: engine.search(queries[number % 400]),
        "memfs, warm, by words": lambda number: engine.search(queries[number % 400], mode="text"),
        "memfs.open().search": lambda number: index.update_engine("hybrid").search(
            queries[number % 400]
        ),
    }
    return _Cases("warm", calls, (*list(calls)[:3], _BARE), _BARE, 20)


def _build_scan_cases(index: OpenStore) -> _Cases:
    """Return the exact scan as cases of its own: it would evict the caches of all others."""
    vectors = index.update_engine("hybrid").vectors
    assert vectors is not None  # noqa: S101 - a hybrid engine has them
    rows = vectors.vectors
    encoded = (vectors.encoder.encode(passages.queries(50)).vectors * 127).round().astype("int8")

    def scan(number: int) -> object:
        query = encoded[number % len(encoded)]
        return scanned(rows, query, min(POOL, len(rows)), exact=True, threads=1)

    name = "bare usearch, exact"
    return _Cases("warm", {name: scan}, (name,), name, 5)


def _build_query(engine: Engine, query: str) -> Query:
    """Return tantivy's query of a text: any of its words."""
    text = engine.text
    return Query.boolean_query(
        [(Occur.Should, text.term_query("text", s)) for s in text.stems(query)]
    )


def _open_graph(vectors: VectorIndex) -> object:
    """Return a bare usearch graph: that of the index if it has one, else a new one."""
    if vectors.graph is not None and vectors.graph.file is not None:
        return Index.restore(vectors.graph.file, view=True, enable_key_lookups=False)
    made = Index(ndim=vectors.encoder.dims, metric="cos", dtype="i8", enable_key_lookups=False)
    made.add(np.arange(len(vectors.vectors), dtype=np.uint64), vectors.vectors)
    return made


def _build_cold_cases(folder: str) -> _Cases:
    env = {
        "HOME": folder,
        "MEMFS_HOME": store_paths.user_root(),
        "PATH": os.environ.get("PATH", ""),
    }
    queries = passages.queries(100)
    code = _COLD.split('"')[1]

    def start(*command: str) -> None:
        subprocess.run(command, env=env, cwd=folder, check=True, capture_output=True)  # noqa: S603

    def search(number: int, *more: str) -> None:
        start(sys.executable, "-c", _SEARCH, "search", *more, "--", queries[number % 100])

    calls: dict[str, Callable[[int], object]] = {
        _COLD: lambda _: start(sys.executable, "-c", code),
        "memfs search": search,
        "memfs search --mode text": lambda number: search(number, "--mode", "text"),
    }
    return _Cases("cold", calls, (_COLD,), _COLD, 2)


def _time_cases(size: int, cases: _Cases, rounds: int) -> list[SearchTiming]:
    times: dict[str, list[float]] = {name: [] for name in cases.calls}
    lot = random.Random(11)  # noqa: S311 - an order, no secret
    for number in range(rounds + cases.untimed):
        for name, call in lot.sample([*cases.calls.items()], len(cases.calls)):
            start = time.perf_counter()
            call(number)
            if number >= cases.untimed:
                times[name].append((time.perf_counter() - start) * 1000)
    base = _percentile(times[cases.held_against], 0.5)
    found = []
    for name, each in times.items():
        p50, p95, p99 = (_percentile(each, part) for part in (0.5, 0.95, 0.99))
        floor = name in cases.floors
        ratio = p50 / base if name in (_BARE, _COLD) or not floor else None
        found.append(SearchTiming(size, cases.process, name, p50, p95, p99, ratio, floor))
    return found


def _percentile(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def _measure_space(size: int, folder: str, place: Place) -> SpaceUsage:
    index = place.home.index
    graph = _sum_bytes(index, "/vectors", "graph")
    return SpaceUsage(
        size,
        _sum_bytes(f"{place.home.local}/recall"),
        _sum_bytes(index, "/text"),
        _sum_bytes(index, "/vectors") - graph,
        graph,
        _measure_resident(folder, warm=False),
        _measure_resident(folder, warm=True),
    )


def _measure_resident(folder: str, *, warm: bool) -> int:
    call = f"search.resident(*sys.argv[1:], warm={warm})"
    queries = passages.queries(50 if warm else 1)  # made here: their sources take much memory
    code = f"import sys; from benchmarks import search; {call}"
    command = [sys.executable, "-c", code, folder, *queries]
    return int(subprocess.run(command, check=True, capture_output=True).stdout)  # noqa: S603


def _sum_bytes(top: str, below: str = "", begins: str = "") -> int:
    """Return the bytes of the files in folders `below` whose names start with `begins`."""
    total = 0
    for folder, _, names in os.walk(top):
        if f"{below}/" in f"{folder}/":
            total += sum(os.path.getsize(f"{folder}/{n}") for n in names if n.startswith(begins))
    return total


_UNITS = {"k": 1_000, "m": 1_000_000}


@click.command("search", cls=runner.Measurement)
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
@runner.plot_option
@options.json_option
def command(sizes: str, rounds: int, cold: int, cache: str, plot: str, as_json: bool) -> None:
    """Time searching as the memory grows, against the bare engines and a bare start.

    Warm: one process that keeps its index open. Cold: a process for each query. The passages are
    made of what the Python standard library says about itself.
    """
    report = run(parse_sizes(sizes), rounds, cold, cache, console.talk)
    runner.write_plot(plot, figure(report))
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


if __name__ == "__main__":
    runner.run(command)
