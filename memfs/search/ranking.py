"""A ranking: the candidates in their order, what is known of each, and what says the same once.

Plain lists: whoever made the ranking may have used numpy, whoever shows it does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memfs.search import bm25

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tantivy import DocAddress

    from memfs.search.lexical import Query, Term, TextIndex
    from memfs.search.query_parser import Question

POOL = 1000  # the order by words alone does not depend on how many are looked at
IN_TIME = 0.25  # what a hit is worth more for being of the time that the question names

_FURTHER = 1 / 3
_NONE = (0, 0)  # beside what stands alone


@dataclass
class Ranking:
    """`order` are places in the other lists, the best first; what is gone is not in it.

    `lexical` is BM25, `around` with that of the turns beside it. `near` are the numbers of the
    turns right before and after, 0 for none. `said` is equal for those
    that say the same, 0: like no other; `group` for the turns of a session, 0: of none.
    `addresses` are those known by now, by number.
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
    vector: Any = None  # of the question, int8, where it has one

    def once(self) -> tuple[list[int], dict[int, int]]:
        """Return the order without what says the same as a better one, and how many do, if any."""
        return self._once([0] * len(self.said))

    def _once(self, groups: Sequence[int]) -> tuple[list[int], dict[int, int]]:
        """Return what `once` does, where only those of one group can say the same."""
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

    def sessions(self) -> list[tuple[float, list[int]]]:
        """Return the sessions, the best first: score, and turns, the best first.

        A session scores as its best turn, and a third, a ninth and so on of the further ones.
        """
        turns: dict[int, list[int]] = {}
        for place in self._once(self.group)[0]:
            if self.group[place]:
                turns.setdefault(self.group[place], []).append(place)
        scored = [
            (sum(self.scores[place] * _FURTHER**at for at, place in enumerate(places)), places)
            for places in turns.values()
        ]
        return sorted(scored, key=lambda pair: -pair[0])


def by_words(text: TextIndex, asked: Question, terms: list[Term], only: Query | None) -> Ranking:
    """Rank by words alone."""
    found = bm25.find_matches(text, asked, terms, only, POOL)
    count = len(found.numbers)
    top = max(found.scores, default=1.0)
    in_time = [False] * count
    if asked.period:
        since, until, _ = asked.period
        in_time = [since <= at <= until for at in text.numbers(found.addresses, "at")]
    scores = [
        score / top + (IN_TIME if timely else 0.0)
        for score, timely in zip(found.scores, in_time, strict=True)
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
