"""One searcher for everything that is kept: the lexical index, the vectors, and their fusion."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from memfs.search import catalog, question, ranking, reasons
from memfs.search.lexical import FOLDER as TEXT
from memfs.search.lexical import Occur, Query, TextIndex
from memfs.search.rows import FOLDER as VECTORS

if TYPE_CHECKING:
    from memfs.core.records import Hit
    from memfs.search.lexical import Term
    from memfs.search.question import Question
    from memfs.search.ranking import Ranking
    from memfs.search.semantic import VectorIndex

Mode = Literal["hybrid", "text", "semantic"]


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
    return (
        catalog.sign(f"{folder}/{TEXT}/meta.json"),
        catalog.sign(f"{folder}/{VECTORS}/rows.json"),
    )


class Engine:
    """Searches one index folder. `vectors` is None where only words are searched.

    Numpy and the vector libraries are loaded where there are vectors, not before.
    """

    def __init__(self, text: TextIndex, vectors: VectorIndex | None) -> None:
        self.text = text
        self.vectors = vectors

    @classmethod
    def open(cls, folder: str, mode: Mode = "hybrid") -> Engine:
        """Open (or make) the index in `folder`."""
        text = TextIndex.create(folder)
        if mode == "text":
            return cls(text, None)
        from memfs.search import encoder
        from memfs.search.semantic import VectorIndex

        return cls(text, VectorIndex(folder, encoder.bundled()))

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
        if mode == "semantic" and self.vectors is None:
            return Page([], 0)
        found = self._ranking(asked, terms, mode, self._restriction(only or Filter()), moment)
        shown, alike = found.once()
        told = reasons.Told(self.text, asked, terms, found)
        page = told.locate(shown[offset : offset + limit])
        return Page([told.hit(place, alike[place]) for place in page], len(shown))

    def _ranking(
        self, asked: Question, terms: list[Term], mode: Mode, only: Query | None, now: datetime
    ) -> Ranking:
        if mode == "text" or self.vectors is None:
            return ranking.by_words(self.text, asked, terms, only)
        from memfs.search import hybrid

        searched = hybrid.Searched(self.text, self.vectors, asked, only, now)
        return searched.ranking(terms, by_words=mode == "hybrid")

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
