"""What must not come back: superseded and resolved facts, those of other projects and people.

Two ways to keep the same beliefs: as messages of one recall, found by plain search, and as facts in
the stores they belong to, found by the kind of facts.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.bench import project, retrieval
from memfs.core.facts import REJECTED, Fact
from memfs.knowledge.facts import fact_store
from memfs.knowledge.kinds.facts import Facts
from memfs.knowledge.kinds.protocol import Query, State
from memfs.recall.index_session import IndexSession

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

DEPTH = 10
_EVERYWHERE = "user:universal"


@dataclass(frozen=True)
class PrecisionRow:
    """One way: of the answers the share that is found, and of what must not come what came."""

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
        engine = IndexSession(plain).engine("hybrid")
        stores = _stores(folder, items)
        ways: dict[str, Callable[[dict[str, object]], list[str]]] = {
            "plain search": lambda query: retrieval.search(engine, str(query["query"]), "hybrid"),
            "facts": lambda query: _told(stores, query),
        }
        names = {str(item["id"]) for item in items}
        return [_row(name, way, asked, names, tick) for name, way in ways.items()]


def _row(
    name: str,
    way: Callable[[dict[str, object]], list[str]],
    asked: Sequence[dict[str, object]],
    names: set[str],
    tick: Callable[[int], object],
) -> PrecisionRow:
    shares, came, excluded, found = [], 0, 0, 0
    for query in asked:
        some = way(query)[:DEPTH]
        found += len(some)
        relevant = _texts(query["relevant"])
        # What is an answer of another section is no fact that must not be known.
        out = names.intersection(_texts(query.get("must_exclude"))) - set(relevant)
        excluded += len(out)
        came += len(out.intersection(some))
        if relevant and query.get("answerable", True) is not False:
            shares.append(len(set(relevant).intersection(some)) / len(set(relevant)))
        tick(1)
    recall = sum(shares) / max(1, len(shares))
    return PrecisionRow(name, recall, came, excluded, found / max(1, len(asked)))


def _stores(folder: str, items: Sequence[dict[str, object]]) -> dict[str, Facts]:
    """Keep each belief in the store of its scope and person; return the kinds of the asker."""
    asker = str(items[0].get("user_id") or "")
    kinds = {_EVERYWHERE: Facts(project.make(f"{folder}/user"))}
    strangers = Facts(project.make(f"{folder}/stranger"))
    chains = {str(item["id"]): str(item.get("superseded_by") or "") for item in items}
    for number, item in enumerate(sorted(items, key=lambda each: _depth(each, chains))):
        scope = _texts(item["scope"])[0]
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
            entities=tuple(_texts(item.get("aliases"))),
            key=_last(str(item["id"]), chains),
            session="s",
            at=f"2026-01-01T00:00:{number:02}Z",
        )
        kind.add([fact])
        if item.get("resolved_at"):
            fact_store.decide_fact(kind.place, fact.id, REJECTED)
    return kinds


def _depth(item: Mapping[str, object], chains: Mapping[str, str]) -> int:
    """Return minus how many superseded a belief: what was first is stored first."""
    count, ident = 0, str(item["id"])
    while chains.get(ident):
        ident = chains[ident]
        count += 1
    return -count


def _last(ident: str, chains: Mapping[str, str]) -> str:
    while chains.get(ident):
        ident = chains[ident]
    return ident


def _told(stores: Mapping[str, Facts], query: Mapping[str, object]) -> list[str]:
    """Return what the person is told in the projects that a query is asked in."""
    scopes = [*_texts(query.get("scope")), _EVERYWHERE]
    found = [
        each
        for scope in dict.fromkeys(scopes)
        if scope in stores
        for each in stores[scope].relevant(State(str(query["query"])), Query(limit=DEPTH)).found
    ]
    return [each.id for each in sorted(found, key=lambda each: -each.relevance)]


def _texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []
