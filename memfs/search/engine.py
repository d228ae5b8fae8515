"""One searcher for everything that is kept: the lexical index, the vectors, and their fusion."""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, ParamSpec, TypeVar

from memfs.core.errors import DamagedError, is_damage
from memfs.core.records import Hit, SessionHit  # pages are read back from JSON by their types
from memfs.search import hit_builder, query_parser, ranking
from memfs.search.lexical import Occur, Query, TextIndex

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from memfs.search.encoder import Encoder
    from memfs.search.lexical import Term
    from memfs.search.semantic import VectorIndex

Given = ParamSpec("Given")
Result = TypeVar("Result")
AnyHit = TypeVar("AnyHit", Hit, SessionHit)
Mode = Literal["hybrid", "text", "semantic"]
LIMIT = 5  # hits on a page
TURNS = 3  # of a session that are shown


@dataclass(frozen=True)
class Filter:
    """Which documents to search. Empty fields do not filter; times are epoch seconds, inclusive.

    `tags` are all required, of `any_tags` one. `kinds` is any of message, passage, fact, static,
    block; `importance` the least of a passage.
    """

    kinds: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    any_tags: tuple[str, ...] = ()
    importance: int = 0
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True)
class HitPage(Generic[AnyHit]):
    """Some of the hits, and how many there are in all (at most a few hundred are ranked).

    `sure`: something that was found is clearly about the question.
    """

    hits: list[AnyHit]
    total: int
    sure: bool = True


def _guarded(method: Callable[Given, Result]) -> Callable[Given, Result]:
    """Let a method raise `DamagedError` for whatever libraries say of files that are damaged."""

    @functools.wraps(method)
    def guarded(*args: Given.args, **named: Given.kwargs) -> Result:
        try:
            return method(*args, **named)
        except BaseException as error:
            if not is_damage(error):
                raise
            raise DamagedError("the search index is damaged", "search again") from error

    return guarded


class Engine:
    """Searches one index folder. `vectors` is None where only words are searched.

    Numpy and the vector libraries are loaded where there are vectors, not before.
    """

    def __init__(self, text: TextIndex, vectors: VectorIndex | None) -> None:
        self.text = text
        self.vectors = vectors

    @classmethod
    def open(cls, folder: str, mode: Mode = "hybrid", model: Encoder | None = None) -> Engine:
        """Open (or make) the index in `folder`, with the vectors of a model (the bundled one)."""
        text = TextIndex.create(folder)
        if mode == "text":
            return cls(text, None)
        from memfs.search import encoder  # by meaning: with numpy
        from memfs.search.semantic import VectorIndex  # by meaning: with usearch

        return cls(text, _guarded(VectorIndex)(folder, model or encoder.bundled()))

    def follow(self, folder: str) -> Engine:
        """Open the index in `folder` again, after more was published; what is warm stays so."""
        vectors = None if self.vectors is None else _guarded(self.vectors.follow)()
        return Engine(TextIndex.create(folder), vectors)

    @_guarded
    def search(
        self,
        query: str,
        *,
        mode: Mode = "hybrid",
        only: Filter | None = None,
        limit: int = LIMIT,
        offset: int = 0,
        now: datetime | None = None,
    ) -> HitPage[Hit]:
        """Return the hits `offset` to `offset + limit`, best first, each with why it is there.

        `now` (the local time) is what "last week" is seen from, and recency.
        """
        told = self.told(query, mode, only, now)
        if told is None:
            return HitPage([], 0)
        shown, alike = told.found.once()
        page = told.locate(shown[offset : offset + limit])
        hits = [told.hit(place, alike.get(place, 0)) for place in page]
        return HitPage(hits, len(shown), told.is_sure(shown))

    @_guarded
    def search_sessions(
        self,
        query: str,
        *,
        mode: Mode = "hybrid",
        only: Filter | None = None,
        limit: int = LIMIT,
        offset: int = 0,
        now: datetime | None = None,
    ) -> HitPage[SessionHit]:
        """Return the sessions `offset` to `offset + limit`, best first, with their best turns."""
        told = self.told(query, mode, only, now)
        if told is None:
            return HitPage([], 0)
        ranked = told.found.sessions()
        page = ranked[offset : offset + limit]
        there = set(told.locate([place for _, places in page for place in places[:TURNS]]))
        found = []
        for score, places in page:
            hits = tuple(told.hit(place, 0) for place in places[:TURNS] if place in there)
            if hits:
                found.append(_conversation(score, len(places), hits))
        return HitPage(found, len(ranked), told.is_sure([places[0] for _, places in ranked]))

    @_guarded
    def list_dated(self, only: Filter, *, limit: int = LIMIT, offset: int = 0) -> HitPage[Hit]:
        """Return what a filter lets through, in the order of time."""
        query = self._restriction(only) or Query.all_query()
        addresses, total = self.text.ordered(query, "at", limit, offset)
        return HitPage(
            [hit_builder.build_listed(self.text.opened(each)) for each in addresses], total
        )

    @_guarded
    def told(
        self,
        query: str,
        mode: Mode = "hybrid",
        only: Filter | None = None,
        now: datetime | None = None,
        terms: list[Term] | None = None,
        reranked: int | None = None,
    ) -> hit_builder.HitBuilder | None:
        """Rank what answers a question; None if it says nothing that could be meant.

        `terms` are its words, for who knows them already (see `TextIndex.terms`); `reranked` how
        many are looked at closely, for who needs only the first few (see `fusion`).
        """
        if mode == "semantic" and self.vectors is None:
            return None
        asked = query_parser.read(query, now)
        terms = self.text.terms(asked.text) if terms is None else terms
        if not terms and not asked.parts:  # punctuation, or one endless token
            return None
        within = self._restriction(only) if only else None
        if mode == "text" or self.vectors is None:
            found = ranking.by_words(self.text, asked, terms, within)
        else:
            from memfs.search import hybrid  # by meaning alone

            seconds = now.timestamp() if now else time.time()
            searched = hybrid.HybridSearch(self.text, self.vectors, within, seconds)
            found = searched.ranking(asked, terms, by_words=mode == "hybrid", reranked=reranked)
        return hit_builder.HitBuilder(self.text, asked, terms, found)

    def _restriction(self, only: Filter) -> Query | None:
        """Return the query for the documents a filter allows; None: all of them."""
        parts: list[Query] = []
        fields = (
            ("kind", only.kinds),
            ("role", only.roles),
            ("host", only.hosts),
            ("session", only.sessions),
            ("project", only.projects),
            ("branch", only.branches),
            ("tag", only.any_tags),
        )
        for field, values in fields:
            if values:
                either = [(Occur.Should, self.text.term(field, value)) for value in values]
                parts.append(Query.boolean_query(either))
        parts.extend(self.text.term("tag", tag) for tag in only.tags)
        if only.importance:
            parts.append(self.text.between("importance", only.importance, None))
        if only.since is not None or only.until is not None:
            parts.append(self.text.between("at", only.since, only.until))
        if not parts:
            return None
        return Query.boolean_query([(Occur.Must, part) for part in parts])


def _conversation(score: float, turns: int, hits: tuple[Hit, ...]) -> SessionHit:
    best = hits[0]
    return SessionHit(
        best.session, best.host, best.project, best.branch, best.at, round(score, 4), turns, hits
    )
