"""One searcher for everything that is kept: the lexical index, the vectors, and their fusion."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import numpy as np

from memfs.search import candidates, catalog, encoder, fuse, question, reasons
from memfs.search.lexical import FOLDER as TEXT
from memfs.search.lexical import Occur, Query, TextIndex
from memfs.search.semantic import FOLDER as ROWS
from memfs.search.semantic import VectorIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tantivy import DocAddress

    from memfs.core.records import Hit
    from memfs.search.candidates import Candidates
    from memfs.search.encoder import Encoded
    from memfs.search.lexical import Term
    from memfs.search.question import Question

Mode = Literal["hybrid", "text", "semantic"]
_EVERYTHING = 1 << 31
# Of the cosine of a text without a word of the query: from here on it is about something else.
# A higher floor loses answers (0.2 costs 7 points of recall at 5 on precisionmembench).
FLOOR = 0.0
_IN_TIME = 0.25  # what a hit is worth more for being of the time that the question names
_FRESH = 0.01  # what a hit of today is worth more than an old one; half of it after a month
_HALF_LIFE = 30 * 86400.0  # seconds


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


def published(folder: str) -> tuple[object, object]:
    """Return what the index in `folder` looks like: it is another when more was published."""
    return catalog.sign(f"{folder}/{TEXT}/meta.json"), catalog.sign(f"{folder}/{ROWS}/rows.json")


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

    def follow(self, folder: str) -> Engine:
        """Open the index in `folder` again, after more was published; what is warm stays so."""
        vectors = None if self.vectors is None else self.vectors.follow()
        return Engine(TextIndex.create(folder), vectors)

    def search(
        self, query: str, *, mode: Mode = "hybrid", only: Filter | None = None,
        limit: int = 10, offset: int = 0, now: datetime | None = None,
    ) -> Page:  # fmt: skip
        """Return the hits `offset` to `offset + limit`, best first, each with why it is there.

        `now` (the local time) is what "last week" is seen from, and recency.
        """
        moment = now or datetime.now().astimezone()
        asked = question.read(query, moment)
        terms = self.text.terms(asked.text) or self.text.terms(query)
        if not terms and not asked.parts:
            return Page([], 0)  # punctuation, or one endless token: nothing that could be meant
        restriction = self._restriction(only or Filter())
        encoded = None
        if mode != "text" and self.vectors is not None:
            encoded = self.vectors.encoder.encode([asked.text])
        found = self._candidates(asked, terms, mode, restriction, encoded)
        if not found.numbers:
            return Page([], 0)
        addresses = candidates.alive(self.text, found)
        scores = self._scores(found, mode, encoded)
        scores *= self._priors(found.numbers, addresses, moment, mode)
        in_time = self._in_time(found.numbers, addresses, asked)
        scores += _IN_TIME * in_time
        ranking = fuse.order(found.found, scores) if mode == "hybrid" else _plain(scores)
        kept = [
            index
            for index in ranking
            if found.numbers[index] in addresses
            and (found.found.cosine[index] > FLOOR or found.found.lexical[index] > 0
                 or found.found.around[index] > 0)
        ]  # fmt: skip
        shown, alike = self._collapsed(kept, found)
        page = shown[offset : offset + limit]
        told = reasons.Told(self.text, asked, terms, found, addresses)
        told.locate(page)
        hits = [
            told.hit(index, _shown(scores, index), alike[index], in_time=bool(in_time[index]))
            for index in page
        ]
        return Page(hits, len(shown))

    def _candidates(
        self, asked: Question, terms: list[Term], mode: Mode, only: Query | None,
        encoded: Encoded | None,
    ) -> Candidates:  # fmt: skip
        vectors = self.vectors
        if vectors is None or encoded is None:
            pool = 0 if mode == "semantic" else candidates.TEXT_POOL
            return candidates.without_vectors(
                candidates.by_words(self.text, asked, terms, only, pool)
            )
        words = {}
        if mode == "hybrid":
            words = candidates.by_words(self.text, asked, terms, only, candidates.POOL)
            if asked.period:
                within = self._both(only, self.text.between("at", *asked.period[:2]))
                more = candidates.by_words(self.text, asked, terms, within, candidates.POOL // 2)
                words = {**more, **words}
        allowed = None if only is None else self._allowed(only)
        return candidates.with_vectors(words, vectors, encoded.vectors[0], allowed)

    def _scores(
        self, found: Candidates, mode: Mode, encoded: Encoded | None
    ) -> NDArray[np.float64]:
        evidence = found.found
        if self.vectors is None or encoded is None:
            top = max(float(evidence.lexical.max(initial=0.0)), 1e-9)
            return np.asarray(evidence.lexical / top)
        if mode == "semantic":
            return np.maximum(evidence.cosine, 0.0)
        scores = fuse.first(evidence)
        ranking = fuse.order(evidence, scores)
        best, rest = ranking[: fuse.RERANKED], ranking[fuse.RERANKED :]
        full = candidates.closely(found, best, self.vectors, encoded)
        top = float(scores[rest].max(initial=0.0)) if rest else 0.0
        scores = scores * (float(full.min()) / top if top > 0 else 0.0)
        scores[best] = full
        return scores

    def _priors(
        self, numbers: list[int], addresses: dict[int, DocAddress], now: datetime, mode: Mode
    ) -> NDArray[np.float64]:
        """Return what each candidate's score is multiplied with: for who said it, and when."""
        out = np.ones(len(numbers))
        if mode == "text":
            return out
        known = [index for index, number in enumerate(numbers) if number in addresses]
        found = [addresses[numbers[index]] for index in known]
        weights = np.array(self.text.numbers(found, "weight"), np.float64)
        times = np.array(self.text.numbers(found, "at"), np.float64)
        age = np.maximum(now.timestamp() - times, 0.0)
        fresh = np.where(times > 0, _FRESH * np.exp2(-age / _HALF_LIFE), 0.0)
        out[known] = np.where(weights > 0, weights / 100, 1.0) * (1 + fresh)
        return out

    def _in_time(
        self, numbers: list[int], addresses: dict[int, DocAddress], asked: Question
    ) -> NDArray[np.float64]:
        """Return 1 for the candidates of the time that a question names, 0 for the others."""
        out = np.zeros(len(numbers))
        if asked.period:
            known = [index for index, number in enumerate(numbers) if number in addresses]
            times = self.text.numbers([addresses[numbers[index]] for index in known], "at")
            since, until, _ = asked.period
            out[known] = [since <= at <= until for at in times]
        return out

    def _collapsed(self, ranking: list[int], found: Candidates) -> tuple[list[int], dict[int, int]]:
        """Return the ranking without what says the same as a better hit, and how many do."""
        alike = dict.fromkeys(ranking, 0)
        if self.vectors is None:
            return ranking, alike
        first: dict[frozenset[int], int] = {}
        kept = []
        every = self.vectors.said([found.numbers[index] for index in ranking])
        for index, same in zip(ranking, every, strict=True):
            if same and same in first:
                alike[first[same]] += 1
                continue
            first[same] = index
            kept.append(index)
        return kept, alike

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

    @staticmethod
    def _both(one: Query | None, other: Query) -> Query:
        if one is None:
            return other
        return Query.boolean_query([(Occur.Must, one), (Occur.Must, other)])

    def _allowed(self, only: Query) -> NDArray[np.uint32]:
        found = self.text.search(only, max(1, min(self.text.searcher.num_docs, _EVERYTHING)))
        return candidates.among(self.text, [address for _, address in found])


def _plain(scores: NDArray[np.float64]) -> list[int]:
    return [int(index) for index in np.argsort(-scores, kind="stable")]


def _shown(scores: NDArray[np.float64], index: int) -> float:
    return round(min(1.0, float(scores[index])), 4)
