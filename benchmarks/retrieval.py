"""How well search finds, on a corpus and queries with known answers, as `memfs search` runs it.

Compared with words alone and vectors alone, with the same queries in the same run: those of memfs,
and the bare engines.
"""

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import click

from benchmarks import baseline, plot, project
from benchmarks import command as runner
from memfs.cli import console, layout, options, progress
from memfs.core.errors import UsageError
from memfs.core.records import Identity, Message, Transcript
from memfs.recall.open_store import OpenStore
from memfs.search.engine import Engine
from memfs.search.request import Mode
from memfs.store import blocks, recall

Search = Callable[[str], list[str]]  # from a query to the names of its hits, the best first

DEPTHS = (1, 5, 10, 20)


@dataclass
class RetrievalScore:
    """Sums over queries: recall at each depth, and the reciprocal rank of the first found."""

    queries: int = 0
    recall: dict[int, float] = field(default_factory=lambda: dict.fromkeys(DEPTHS, 0.0))
    reciprocal: float = 0.0

    def add(self, found: list[str], relevant: set[str]) -> None:
        self.queries += 1
        for depth in DEPTHS:
            self.recall[depth] += len(relevant.intersection(found[:depth])) / len(relevant)
        ranks = [rank for rank, name in enumerate(found, 1) if name in relevant]
        self.reciprocal += 1 / ranks[0] if ranks else 0.0

    def record(self) -> dict[str, object]:
        """Return the means, for JSON."""
        count = max(1, self.queries)
        shares = {str(depth): round(total / count, 6) for depth, total in self.recall.items()}
        return {"recall": shares, "mrr": round(self.reciprocal / count, 6)}


@dataclass
class RetrievalReport:
    """The scores of a run; queries without an answer are left out."""

    overall: RetrievalScore = field(default_factory=RetrievalScore)
    by_category: dict[str, RetrievalScore] = field(default_factory=dict)
    alone: dict[str, RetrievalScore] = field(default_factory=dict)  # the searches to compare with

    def add(self, category: str, found: list[str], relevant: set[str]) -> None:
        self.overall.add(found, relevant)
        self.by_category.setdefault(category, RetrievalScore()).add(found, relevant)

    def record(self) -> dict[str, object]:
        return {
            "queries": self.overall.queries,
            "overall": self.overall.record(),
            "by_category": {name: s.record() for name, s in sorted(self.by_category.items())},
            "alone": {name: score.record() for name, score in self.alone.items()},
        }


def run(
    corpus_path: str, queries_path: str, mode: Mode, tick: Callable[[int], object]
) -> RetrievalReport:
    """Make a store for each space of the corpus, and search each query in its space.

    The corpus is JSONL of {space, id, text, ts, role, session}, the queries JSONL of {qid, space,
    query, relevant[], category, answerable}.
    """
    spaces: dict[str, list[dict[str, object]]] = {}
    for item in lines(corpus_path, ("id", "text")):
        spaces.setdefault(str(item.get("space", "")), []).append(item)
    queries = lines(queries_path, ("query", "relevant"))
    answerable = [q for q in queries if q.get("answerable", True) is not False and q["relevant"]]
    report = RetrievalReport()
    with tempfile.TemporaryDirectory(prefix="memfs-bench-") as folder:
        searches = {
            space: _build_searches(f"{folder}/{number}", items, mode)
            for number, (space, items) in enumerate(spaces.items())
        }
        for query in answerable:
            relevant = _to_names(query["relevant"])
            ways = searches.get(str(query.get("space", "")))
            for name in next(iter(searches.values()), (mode,)):
                found = ways[name](str(query["query"])) if ways else []
                if name == mode:
                    report.add(str(query.get("category", "")), found, relevant)
                else:
                    report.alone.setdefault(name, RetrievalScore()).add(found, relevant)
            tick(1)
    return report


def figure(report: RetrievalReport) -> str:
    """Draw the share of answers among the first five hits, by category and in all."""
    scores = [*sorted(report.by_category.items()), ("all queries", report.overall)]
    scores += report.alone.items()
    drawn = [
        plot.Bar(
            name or "-",
            score.recall[5] / max(1, score.queries),
            f"{score.recall[5] / max(1, score.queries):.1%}",
            score is report.overall,
        )
        for name, score in scores
    ]
    return plot.bars("What search finds", "of the answers, among the first five hits", drawn)


def count_queries(queries_path: str) -> int:
    """Return how many queries a run will search."""
    queries = lines(queries_path, ("query", "relevant"))
    return sum(1 for q in queries if q.get("answerable", True) is not False and q["relevant"])


def search(engine: Engine, query: str, mode: Mode) -> list[str]:
    """Return the ids of the hits for a query, the best first."""
    page = engine.search(query, mode=mode, limit=max(DEPTHS))
    return [hit.id.rpartition("/")[2] for hit in page.hits]


def _build_searches(path: str, items: list[dict[str, object]], mode: Mode) -> dict[str, Search]:
    """Return searches over the items of a space by name: `mode`, and those to compare with."""
    engine = OpenStore(store(path, items)).update_engine(mode)
    texts = [baseline.NamedText(str(item["id"]), str(item["text"])) for item in items]

    def bind(way: Mode) -> Search:
        return lambda query: search(engine, query, way)

    found: dict[str, Search] = {mode: bind(mode)}
    if mode == "hybrid":
        found |= {"memfs, words alone": bind("text"), "memfs, vectors alone": bind("semantic")}
    most = max(DEPTHS)
    bare = {
        "bare tantivy": baseline.by_words(texts, most),
        "bare usearch": baseline.by_vectors(texts, most),
    }
    return found | bare


def store(path: str, items: list[dict[str, object]]) -> blocks.Place:
    """Make a store whose recall holds the items, one message each."""
    place = project.make(path)
    messages = [
        Message(
            str(item["id"]),
            str(item.get("session") or ""),
            "bench",
            path,
            "",
            str(item.get("ts") or ""),
            str(item.get("role") or ""),
            str(item["text"]),
        )
        for item in items
    ]
    log = recall.RecallLog(place.home, "bench", Identity("bench", ""))
    log.replace(None, path, Transcript(messages, 0, 0, 0), "")
    return place


def _to_names(relevant: object) -> set[str]:
    return {str(name) for name in relevant} if isinstance(relevant, list) else {str(relevant)}


def lines(path: str, keys: tuple[str, ...]) -> list[dict[str, object]]:
    """Return the objects of a JSONL file. Raises `MemfsError` for one without the keys."""
    return list(_read_lines(path, keys))


def _read_lines(path: str, keys: tuple[str, ...]) -> Iterator[dict[str, object]]:
    try:
        handle = open(path, encoding="utf-8")  # noqa: SIM115 - closed by the with below
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    with handle:
        for number, line in enumerate(handle, 1):
            if not line.strip():
                continue
            try:
                item = json.loads(line)
            except ValueError as error:
                raise UsageError(f"{path}:{number}: not JSON: {error}") from error
            missing = [key for key in keys if not isinstance(item, dict) or key not in item]
            if missing:
                raise UsageError(f"{path}:{number}: {', '.join(missing)} missing")
            yield item


@click.command("retrieval", cls=runner.Measurement)
@click.argument("corpus", type=click.Path())
@click.argument("queries", type=click.Path())
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "text", "semantic"]),
    default="hybrid",
    show_default=True,
    help="By words and meaning, or by one of them.",
)
@runner.plot_option
@options.json_option
def command(corpus: str, queries: str, mode: str, plot: str, as_json: bool) -> None:
    """Measure recall and MRR on a corpus and queries with known answers (JSONL).

    Held against the bare engines, and by words and meaning also against each of them alone.
    """
    chosen: Mode = "text" if mode == "text" else "semantic" if mode == "semantic" else "hybrid"
    total = count_queries(queries)
    with progress.show_progress(total, "searching") as tick:
        report = run(corpus, queries, chosen, tick)
    runner.write_plot(plot, figure(report))
    if as_json:
        console.as_json(report.record())
        return
    depths = [f"R@{depth}" for depth in DEPTHS]
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


if __name__ == "__main__":
    runner.run(command)
