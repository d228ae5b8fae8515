"""The search engine of an index: the full-text index, the vectors, and their fusion."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from memfs.core.formats import format_day
from memfs.core.hits import Hit, SessionHit
from memfs.search import federated_search, hit_builder, query_dates, ranking
from memfs.search.federated_search import convert_damage
from memfs.search.hit_builder import HitBuilder
from memfs.search.lexical import Occur, Query, Term, TextIndex
from memfs.search.request import Filter, HitPage, Mode

if TYPE_CHECKING:
    from memfs.search.encoder import Encoder
    from memfs.search.semantic import VectorIndex

LIMIT = 5  # hits on a page
_SPAN = 900  # seconds: every zone's day begins at one


class Engine:
    """Searches one index folder. `vectors` is None for a search by words alone.

    Numpy and the vector libraries are loaded only if there are vectors.
    """

    def __init__(self, text: TextIndex, vectors: VectorIndex | None) -> None:
        self.text = text
        self.vectors = vectors

    @classmethod
    def open(cls, folder: str, mode: Mode = "hybrid", model: Encoder | None = None) -> Engine:
        """Open or create the index in `folder`, with a model's vectors (default: the bundled)."""
        text = TextIndex.create(folder)
        if mode == "text":
            return cls(text, None)
        from memfs.search import encoder  # by meaning: with numpy
        from memfs.search.semantic import VectorIndex  # by meaning: with usearch

        return cls(text, convert_damage(VectorIndex)(folder, model or encoder.load_bundled()))

    def reopen(self, folder: str) -> Engine:
        """Return an engine of the newest published index in `folder`; a loaded graph is kept."""
        vectors = None if self.vectors is None else convert_damage(self.vectors.reopen)()
        return Engine(TextIndex.create(folder), vectors)

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
        """Return the hits `offset` to `offset + limit`, best first; `now` is the local time."""
        builders = rank_indexes([IndexSearch(self, only)], query, mode, now)
        return federated_search.make_page(builders, limit, offset)

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
        builders = rank_indexes([IndexSearch(self, only)], query, mode, now)
        return federated_search.make_session_page(builders, limit, offset)

    @convert_damage
    def list_by_time(self, only: Filter, *, limit: int = LIMIT, offset: int = 0) -> HitPage[Hit]:
        """Return the documents that pass a filter, ordered by time."""
        query = self._build_filter_query(only) or Query.all_query()
        addresses, total = self.text.search_in_order(query, "at", limit, offset)
        return HitPage(
            [hit_builder.build_hit(self.text.load_document(each)) for each in addresses], total
        )

    @convert_damage
    def count_by_day(self) -> Counter[str]:
        """Count the messages of each day, as 2026-05-03 in the zone of this machine."""
        spans = {"spans": {"histogram": {"field": "at", "interval": _SPAN, "min_doc_count": 1}}}
        query = self.text.term_query("kind", "message")
        days: Counter[str] = Counter()
        for bucket in self.text.searcher.aggregate(query, spans)["spans"]["buckets"]:
            days[format_day(bucket["key"])] += int(bucket["doc_count"])
        return days

    @convert_damage
    def rank(
        self,
        query: str,
        mode: Mode = "hybrid",
        only: Filter | None = None,
        now: datetime | None = None,
        terms: list[Term] | None = None,
        reranked: int | None = None,
    ) -> HitBuilder | None:
        """Rank the documents for a question; None if the question has no words.

        `terms` are its words if known (see `TextIndex.parse_terms`); `reranked` limits late
        interaction to so many candidates, if only the first few hits matter (see `fusion`).
        """
        question = query_dates.parse_question(query, now)
        terms = self.text.parse_terms(question.text) if terms is None else terms
        if not terms and not question.parts:  # punctuation, or one endless token
            return None
        restriction = self._build_filter_query(only) if only else None
        if mode == "text" or self.vectors is None:
            found = ranking.by_words(self.text, question, terms, restriction)
        else:
            from memfs.search import hybrid  # by meaning alone

            seconds = now.timestamp() if now else time.time()
            search = hybrid.HybridSearch(self.text, self.vectors, restriction, seconds)
            found = search.rank(question, terms, by_words=mode == "hybrid", reranked=reranked)
        return HitBuilder(self.text, question, terms, found)

    def _build_filter_query(self, only: Filter) -> Query | None:
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
                either = [(Occur.Should, self.text.term_query(field, value)) for value in values]
                parts.append(Query.boolean_query(either))
        parts.extend(self.text.term_query("tag", tag) for tag in only.tags)
        if only.speakers:
            pairs = product(("speaker", "role"), only.speakers)
            named = [(Occur.Should, self.text.term_query(*pair)) for pair in pairs]
            parts.append(Query.boolean_query(named))
        if only.importance:
            parts.append(self.text.range_query("importance", only.importance, None))
        if only.since is not None or only.until is not None:
            parts.append(self.text.range_query("at", only.since, only.until))
        out = [self.text.term_query("session", session) for session in only.but_sessions]
        if not parts and not out:
            return None
        wanted = [(Occur.Must, part) for part in parts or [Query.all_query()]]
        return Query.boolean_query([*wanted, *((Occur.MustNot, each) for each in out)])


class IndexSearch(NamedTuple):
    """An index that is searched, and for which of its documents."""

    engine: Engine
    only: Filter | None


def rank_indexes(
    searches: Sequence[IndexSearch], query: str, mode: Mode, now: datetime | None = None
) -> list[HitBuilder]:
    """Return the rankings of the indexes for a query; one without vectors is searched by words."""
    modes: list[Mode] = [mode if each.engine.vectors else "text" for each in searches]
    found = (
        each.engine.rank(query, way, each.only, now)
        for each, way in zip(searches, modes, strict=True)
    )
    return [builder for builder in found if builder is not None]
