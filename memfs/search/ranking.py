"""A ranking: the candidates in order, the evidence for each, and their duplicates.

Plain lists: the maker of a ranking may use numpy, its reader needs none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tantivy import DocAddress

from memfs.search import bm25
from memfs.search.lexical import Query, Term, TextIndex
from memfs.search.query_dates import Question

POOL = 1000  # candidates by words alone; their order does not depend on it
IN_TIME = 0.25  # bonus of a hit from the period that the question names

_FURTHER = 1 / 3
_NONE = (0, 0)  # neighbours of a single document


@dataclass
class Ranking:
    """`order` are positions in the other lists, the best first, without deleted documents.

    `lexical` is BM25, `around` includes the neighbouring turns. `near` are the numbers of the
    turns right before and after, 0 for none. `said` is equal for duplicates (0: unique), `group`
    for the turns of a session (0: none). `addresses` are the known ones, by number.
    """

    order: list[int]
    numbers: list[int]
    scores: list[float]
    lexical: list[float]
    around: list[float]
    cosine: list[float]
    near: list[Sequence[int]]
    said: list[int]
    group: list[int]
    in_time: list[bool]
    addresses: dict[int, DocAddress]
    vector: Any = None  # of the question, int8; None for words alone

    def deduplicate(self) -> tuple[list[int], dict[int, int]]:
        """Return the order without duplicates, and how many duplicates each of it has, if any."""
        return self._deduplicate([0] * len(self.said))

    def _deduplicate(self, groups: Sequence[int]) -> tuple[list[int], dict[int, int]]:
        """Do what `deduplicate` does, where only candidates of one group are duplicates."""
        alike: dict[int, int] = {}
        first: dict[tuple[int, int], int] = {}
        kept = []
        for place in self.order:
            same = groups[place], self.said[place]
            if same[1] and same in first:
                alike[first[same]] = alike.get(first[same], 0) + 1
                continue
            first[same] = place
            kept.append(place)
        return kept, alike

    def rank_sessions(self) -> list[tuple[float, list[int]]]:
        """Return the score and the turns of each session, the best first.

        A session scores as its best turn, plus a third, a ninth and so on of the further ones.
        """
        turns: dict[int, list[int]] = {}
        for place in self._deduplicate(self.group)[0]:
            if self.group[place]:
                turns.setdefault(self.group[place], []).append(place)
        scored = [
            (sum(self.scores[place] * _FURTHER**at for at, place in enumerate(places)), places)
            for places in turns.values()
        ]
        return sorted(scored, key=lambda pair: -pair[0])


def by_words(text: TextIndex, question: Question, terms: list[Term], only: Query | None) -> Ranking:
    """Rank by words alone: BM25 times the weight of each document."""
    found = bm25.find_matches(text, question, terms, only, POOL)
    count = len(found.numbers)
    weights = text.numbers(found.addresses, "weight")
    weighted = [
        score * (weight or 100) / 100 for score, weight in zip(found.scores, weights, strict=True)
    ]
    top = max(weighted, default=1.0)
    in_time = [False] * count
    if question.period:
        since, until, _ = question.period
        in_time = [since <= at <= until for at in text.numbers(found.addresses, "at")]
    scores = [
        score / top + (IN_TIME if timely else 0.0)
        for score, timely in zip(weighted, in_time, strict=True)
    ]
    order = sorted(range(count), key=lambda place: -scores[place])
    return Ranking(
        order,
        found.numbers,
        scores,
        found.scores,
        found.scores,
        [0.0] * count,
        [_NONE] * count,
        text.numbers(found.addresses, "said"),
        text.numbers(found.addresses, "group"),
        in_time,
        dict(zip(found.numbers, found.addresses, strict=True)),
    )
