"""One searcher for everything that is kept: the lexical index, the vectors, and their fusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from memfs.core.records import Hit
from memfs.core.snippet import snippet
from memfs.search import encoder, fuse
from memfs.search.lexical import Occur, Query, TextIndex
from memfs.search.semantic import VectorIndex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray
    from tantivy import DocAddress

    from memfs.search.lexical import Term

Mode = Literal["hybrid", "text", "semantic"]
POOL = 100  # candidates of each side: the same for every page, or pages would not fit together
_TEXT_POOL = 1000  # the order by words alone does not depend on how many are looked at
_EVERYTHING = 1 << 31
# Of the cosine of a text without a word of the query: from here on it is about something else.
# A higher floor loses answers (0.2 costs 7 points of recall at 5 on precisionmembench).
FLOOR = 0.0
_CLOSE = 0.35  # a cosine worth naming as a reason


@dataclass(frozen=True)
class Filter:
    """Which documents to search. Empty fields do not filter; times are epoch seconds, inclusive.

    `tags` are all required. `kinds` is any of message, passage, block.
    """

    kinds: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True)
class Page:
    """Some of the hits, and how many there are in all (at most a few hundred are ranked)."""

    hits: list[Hit]
    total: int


@dataclass
class _Candidates:
    """Document numbers with their scores, side by side."""

    numbers: list[int]
    lexical: NDArray[np.float64]
    cosine: NDArray[np.float64]
    maxsim: NDArray[np.float64]


class Engine:
    """Searches one index folder. `vectors` is None where only words are searched."""

    def __init__(self, text: TextIndex, vectors: VectorIndex | None) -> None:
        self.text = text
        self.vectors = vectors

    @classmethod
    def open(cls, folder: str, mode: Mode = "hybrid") -> Engine:
        """Open (or make) the index in `folder`."""
        text = TextIndex.create(folder)
        return cls(text, None if mode == "text" else VectorIndex(folder, encoder.bundled()))

    def search(
        self, query: str, *, mode: Mode = "hybrid", only: Filter | None = None,
        limit: int = 10, offset: int = 0,
    ) -> Page:  # fmt: skip
        """Return the hits `offset` to `offset + limit`, best first, each with why it is there."""
        terms = self.text.terms(query)
        if not terms:  # punctuation, or one endless token: nothing that could be meant
            return Page([], 0)
        found = self._candidates(query, terms, mode, self._restriction(only or Filter()))
        if not found.numbers:
            return Page([], 0)
        scores = self._scores(found, mode)
        ranking = fuse.order(scores, found.lexical) if mode == "hybrid" else _plain(scores)
        alive = self._alive(found.numbers)
        means = found.cosine > FLOOR
        ranking = [
            index
            for index in ranking
            if found.numbers[index] in alive and (means[index] or found.lexical[index] > 0)
        ]
        hits = [
            self._hit(self.text.document(alive[found.numbers[index]]), terms,
                      float(scores[index]), float(found.cosine[index]))
            for index in ranking[offset : offset + limit]
        ]  # fmt: skip
        return Page(hits, len(ranking))

    def _candidates(
        self, query: str, terms: list[Term], mode: Mode, only: Query | None
    ) -> _Candidates:
        pool = _TEXT_POOL if mode == "text" or self.vectors is None else POOL
        words = None if mode == "semantic" else self.text.query(terms, only)
        scored: dict[int, float] = {}
        if words is not None:
            found = self.text.search(words, pool)
            numbers = self.text.numbers([address for _, address in found])
            scored = {n: score for n, (score, _) in zip(numbers, found, strict=True)}
        if mode == "text" or self.vectors is None:
            return _Candidates(list(scored), _array(scored.values()), *_zeros(len(scored)))
        encoded = self.vectors.encoder.encode([query])
        allowed = None if only is None else self._allowed(only)
        near = self.vectors.candidates(encoded.vectors[0], pool, allowed)
        numbers = list(dict.fromkeys([*scored, *near]))
        cosine, best = self._cosines(encoded.vectors[0], numbers)
        lexical = _array(scored.get(number, 0.0) for number in numbers)
        maxsim = self._max_similarity(encoded.tokens[0], best)
        return _Candidates(numbers, lexical, cosine, maxsim)

    def _cosines(
        self, query: NDArray[np.float32], numbers: list[int]
    ) -> tuple[NDArray[np.float64], list[int]]:
        """Return each document's best cosine, and the row that has it (-1 where there is none)."""
        assert self.vectors is not None  # noqa: S101 - only called with vectors
        cosine = np.zeros(len(numbers))
        best = [-1] * len(numbers)
        for index, (first, last) in enumerate(self.vectors.windows(numbers)):
            if last > first:
                rows = np.asarray(self.vectors.vectors[first:last], np.float32)
                norms = np.maximum(np.linalg.norm(rows, axis=1), 1e-9)
                similar = rows @ query / norms
                at = int(similar.argmax())
                cosine[index], best[index] = float(similar[at]), first + at
        return cosine, best

    def _max_similarity(self, query: NDArray[np.uint16], rows: list[int]) -> NDArray[np.float64]:
        assert self.vectors is not None  # noqa: S101 - only called with vectors
        vectors, model = self.vectors, self.vectors.encoder
        empty = np.zeros(0, np.uint16)
        tokens = [vectors.tokens_of(row) if row >= 0 else empty for row in rows]
        if not tokens or not len(query):
            return np.zeros(len(rows))
        query = np.unique(query)
        count = max(1, vectors.extent.rows)
        idf = np.log(1 + count / (1 + vectors.frequencies[query].astype(np.float64)))
        ids = np.unique(np.concatenate(tokens))
        return fuse.max_similarity(
            model.rows(query),
            model.norms(query).astype(np.float64) * idf,
            tokens,
            (ids, model.rows(ids)),
        )

    @staticmethod
    def _scores(found: _Candidates, mode: Mode) -> NDArray[np.float64]:
        if mode == "text":
            return np.asarray(found.lexical / max(found.lexical.max(initial=0.0), 1e-9))
        if mode == "semantic":
            return np.maximum(found.cosine, 0.0)
        return fuse.fuse(found.lexical, found.cosine, found.maxsim)

    def _restriction(self, only: Filter) -> Query | None:
        """Return the query for the documents a filter allows; None: all of them."""
        parts: list[Query] = []
        fields = (
            ("kind", only.kinds), ("role", only.roles), ("host", only.hosts),
            ("session", only.sessions),
        )  # fmt: skip
        for field, values in fields:
            if values:
                either = [(Occur.Should, self.text.term(field, value)) for value in values]
                parts.append(Query.boolean_query(either))
        parts.extend(self.text.term("tag", tag) for tag in only.tags)
        if only.since is not None or only.until is not None:
            parts.append(self.text.between("at", only.since, only.until))
        if not parts:
            return None
        return Query.boolean_query([(Occur.Must, part) for part in parts])

    def _allowed(self, only: Query) -> NDArray[np.uint32]:
        found = self.text.search(only, max(1, min(self.text.searcher.num_docs, _EVERYTHING)))
        return np.array(self.text.numbers([address for _, address in found]), np.uint32)

    def _alive(self, numbers: list[int]) -> dict[int, DocAddress]:
        """Find documents by number; those deleted since they got their vectors are missing."""
        either = Query.boolean_query(
            [(Occur.Should, self.text.term("num", number)) for number in numbers]
        )
        addresses = [address for _, address in self.text.search(either, len(numbers))]
        return dict(zip(self.text.numbers(addresses), addresses, strict=True))

    def _hit(
        self, document: dict[str, list[object]], terms: list[Term], score: float, cosine: float
    ) -> Hit:
        text = _first(document, "text")
        stems = self.text.stems(text)
        words = [term.word for term in terms if term.stem in stems]
        why = ["words: " + ", ".join(words[:6])] if words else []
        if cosine >= _CLOSE or not words:
            why.append(f"meaning {cosine:.2f}")
        return Hit(
            id=_first(document, "id"), kind=_first(document, "kind"), text=text,
            snippet=snippet(text, words), why=tuple(why), score=round(score, 4),
            at=_first(document, "time"), role=_first(document, "role"),
            host=_first(document, "host"), session=_first(document, "session"),
            project=_first(document, "project"), branch=_first(document, "branch"),
            tags=tuple(str(tag) for tag in document.get("tag", [])),
            importance=int(_first(document, "importance") or 0), label=_first(document, "label"),
        )  # fmt: skip


def _plain(scores: NDArray[np.float64]) -> list[int]:
    return [int(index) for index in np.argsort(-scores, kind="stable")]


def _array(values: Iterable[float]) -> NDArray[np.float64]:
    return np.array(list(values), np.float64)


def _zeros(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.zeros(count), np.zeros(count)


def _first(document: dict[str, list[object]], name: str) -> str:
    values = document.get(name)
    return str(values[0]) if values else ""
