"""How often search returns excluded facts: superseded, resolved, of other projects or people.

Two ways to keep the same beliefs: as messages of one recall, found by plain search, and as facts in
the stores they belong to, found by the kind of facts.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import click

from benchmarks import command as runner
from benchmarks import project, retrieval
from memfs.cli import console, layout, options, progress
from memfs.core.records import REJECTED, Fact
from memfs.knowledge.facts import fact_store
from memfs.knowledge.kinds.facts import Facts
from memfs.knowledge.kinds.protocol import Query, State
from memfs.recall.open_store import OpenStore

DEPTH = 10
_EVERYWHERE = "user:universal"


@dataclass(frozen=True)
class PrecisionRow:
    """One way to search: the share of answers found, and excluded facts that came."""

    name: str
    recall: float
    came: int
    excluded: int
    found: float  # facts for a query


def run(corpus: str, queries: str, tick: Callable[[int], object]) -> list[PrecisionRow]:
    """Measure both ways, at a depth of ten.

    The corpus is JSONL of {id, text, ts, scope[], superseded_by, resolved_at, user_id, aliases[],
    type}, the queries JSONL of {query, scope[], relevant[], must_exclude[]}.
    """
    items = list(retrieval.lines(corpus, ("id", "text", "scope")))
    asked = [q for q in retrieval.lines(queries, ("query", "relevant")) if str(q["query"]).strip()]
    with tempfile.TemporaryDirectory(prefix="memfs-bench-") as folder:
        plain = retrieval.store(f"{folder}/plain", items)
        engine = OpenStore(plain).update_engine("hybrid")
        stores = _build_stores(folder, items)
        ways: dict[str, Callable[[dict[str, object]], list[str]]] = {
            "plain search": lambda query: retrieval.search(engine, str(query["query"]), "hybrid"),
            "facts": lambda query: _search_facts(stores, query),
        }
        names = {str(item["id"]) for item in items}
        return [_score_way(name, search, asked, names, tick) for name, search in ways.items()]


def _score_way(
    name: str,
    search: Callable[[dict[str, object]], list[str]],
    asked: Sequence[dict[str, object]],
    names: set[str],
    tick: Callable[[int], object],
) -> PrecisionRow:
    shares, came, excluded, found = [], 0, 0, 0
    for query in asked:
        some = search(query)[:DEPTH]
        found += len(some)
        relevant = _as_texts(query["relevant"])
        # A relevant answer may be in the must_exclude of another section: it does not count.
        out = names.intersection(_as_texts(query.get("must_exclude"))) - set(relevant)
        excluded += len(out)
        came += len(out.intersection(some))
        if relevant and query.get("answerable", True) is not False:
            shares.append(len(set(relevant).intersection(some)) / len(set(relevant)))
        tick(1)
    recall = sum(shares) / max(1, len(shares))
    return PrecisionRow(name, recall, came, excluded, found / max(1, len(asked)))


def _build_stores(folder: str, items: Sequence[dict[str, object]]) -> dict[str, Facts]:
    """Store each belief by its scope and person; return the asker's facts by scope."""
    asker = str(items[0].get("user_id") or "")
    kinds = {_EVERYWHERE: Facts(project.make(f"{folder}/user"))}
    strangers = Facts(project.make(f"{folder}/stranger"))
    chains = {str(item["id"]): str(item.get("superseded_by") or "") for item in items}
    for number, item in enumerate(sorted(items, key=lambda each: _rank_item(each, chains))):
        scope = _as_texts(item["scope"])[0]
        kind = strangers
        if str(item.get("user_id") or "") == asker:
            if scope not in kinds:
                kinds[scope] = Facts(project.make(f"{folder}/{len(kinds)}"))
            kind = kinds[scope]
        fact = Fact(
            str(item["id"]),
            str(item["text"]),
            0.9,
            str(item.get("type") or "technical"),
            entities=tuple(_as_texts(item.get("aliases"))),
            key=_find_latest(str(item["id"]), chains),
            session="s",
            at=f"2026-01-01T00:00:{number:02}Z",
        )
        kind.add([fact])
        if item.get("resolved_at"):
            fact_store.decide_fact(kind.place, fact.id, REJECTED)
    return kinds


def _rank_item(item: Mapping[str, object], chains: Mapping[str, str]) -> int:
    """Return minus the number of a belief's successors: the oldest sorts first."""
    count, ident = 0, str(item["id"])
    while chains.get(ident):
        ident = chains[ident]
        count += 1
    return -count


def _find_latest(ident: str, chains: Mapping[str, str]) -> str:
    while chains.get(ident):
        ident = chains[ident]
    return ident


def _search_facts(stores: Mapping[str, Facts], query: Mapping[str, object]) -> list[str]:
    """Return the ids of the relevant facts in the scopes of a query, the best first."""
    scopes = [*_as_texts(query.get("scope")), _EVERYWHERE]
    found = [
        each
        for scope in dict.fromkeys(scopes)
        if scope in stores
        for each in stores[scope].relevant(State(str(query["query"])), Query(limit=DEPTH)).found
    ]
    return [each.id for each in sorted(found, key=lambda each: -each.relevance)]


def _as_texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


@click.command("precision", cls=runner.Measurement)
@click.argument("corpus", type=click.Path())
@click.argument("queries", type=click.Path())
@options.json_option
def command(corpus: str, queries: str, as_json: bool) -> None:
    """Measure what must not come back: what is superseded, resolved, or of another project.

    Facts in the stores they belong to against plain search over all of them (JSONL).
    """
    with progress.show_progress(0, "asking") as tick:
        found = run(corpus, queries, tick)
    if as_json:
        console.as_json([asdict(row) for row in found])
        return
    rows = [("MEMORY", f"RECALL@{DEPTH}", "MUST NOT COME", "CAME", "FACTS A QUERY")]
    rows += [
        (row.name, f"{row.recall:.1%}", str(row.excluded), str(row.came), f"{row.found:.1f}")
        for row in found
    ]
    console.echo(layout.table(rows, right=(1, 2, 3, 4)))


if __name__ == "__main__":
    runner.run(command)
