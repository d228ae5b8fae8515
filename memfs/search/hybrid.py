"""Ranking by words and meaning: the candidates, their fused scores, who said them and when."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from memfs.search import bm25, candidates, fusion, threads
from memfs.search.bm25 import Bm25Matches
from memfs.search.candidates import BESIDE, QueryVector
from memfs.search.ranking import IN_TIME, Ranking
from memfs.search.vector_layout import AT, GROUP, LARGEST, SAID, WEIGHT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memfs.search.candidates import SearchCandidates, WordCandidates
    from memfs.search.dates import Period
    from memfs.search.encoder import TokenIds
    from memfs.search.lexical import Query, Term, TextIndex
    from memfs.search.query_parser import Question
    from memfs.search.semantic import VectorIndex

    Scores = NDArray[np.float64]

# Of the cosine of a text without a word of the query: from here on it is about something else.
# A higher floor loses answers (0.2 costs 7 points of recall at 5 on precisionmembench).
FLOOR = 0.0
_FRESH = 0.01  # what a hit of today is worth more than an old one; half of it after a month
_HALF_LIFE = 30 * 86400.0  # seconds
_QUOTED = 1.0  # what a hit is worth more for having what the question quotes
_FEW, _SHARE = 5000, 20  # as many, or one in so many: what a filter allows is listed


class HybridSearch:
    """One question to one index: everything on the way to its ranking."""

    def __init__(
        self, text: TextIndex, vectors: VectorIndex, only: Query | None, now: float
    ) -> None:
        self._text, self._vectors = text, vectors
        self._only, self._now = only, now
        self._quoted: list[int] = []  # numbers of documents that have what is quoted

    def ranking(
        self, asked: Question, terms: list[Term], *, by_words: bool, reranked: int | None = None
    ) -> Ranking:
        """Return the ranking for a question and its words: by meaning, or by both."""
        vectors = self._vectors
        both = by_words and self._only is None  # what is near is looked for meanwhile
        words = partial(self._said, asked, terms if by_words else None)
        coming = threads.begin_call(words) if both else words
        meant = self._meant(asked.text)
        nearest = vectors.nearest(meant.vector, candidates.POOL) if both else None
        said = coming()
        exact = not said.words.numbers  # meaning alone has to find them
        if nearest is None or (exact and vectors.graph):
            allowed = self._allowed(meant.vector, exact=exact)
            nearest = vectors.nearest(meant.vector, candidates.POOL, allowed, exact=exact)
        found = candidates.gather(said, nearest, vectors, meant)
        scores = np.maximum(found.found.cosine, 0.0)
        if by_words:
            scores = self._fused(found, meant, fusion.RERANKED if reranked is None else reranked)
        made = self._ranked(found, scores, said.words, asked.period)
        made.vector = meant.vector
        return made

    def _meant(self, text: str) -> QueryVector:
        vectors = self._vectors
        encoded = vectors.encoder.encode([text])
        vector = np.rint(encoded.vectors[0] * LARGEST).astype(np.int8)
        tokens: TokenIds = np.array(sorted({*encoded.tokens[0].tolist()}), vectors.encoder.ids)
        return QueryVector(vector, tokens, vectors.weights(tokens))

    def _ranked(
        self, found: SearchCandidates, scores: Scores, words: Bm25Matches, period: Period | None
    ) -> Ranking:
        numbers, evidence = found.numbers, found.found
        times, weights = found.kept[:, AT], found.kept[:, WEIGHT]
        alive = (weights > 0) | (evidence.lexical > 0)  # new ones have no vectors yet
        weights = np.where(weights > 0, weights, 100)
        scores = scores * (weights / 100) * self._recency(times)
        in_time = [False] * len(numbers)
        if period:
            timely = (times >= period.since) & (times <= period.until)
            scores, in_time = scores + IN_TIME * timely, timely.tolist()
        if self._quoted:
            scores = scores + _QUOTED * np.isin(numbers, self._quoted)
        ranked = fusion.rank_places(evidence, scores)
        speaks = (evidence.cosine > FLOOR) | (evidence.around > 0)
        shown = alive & speaks
        lexical, around, _, cosine = evidence.known.tolist()
        return Ranking(
            ranked[shown[ranked]].tolist(),
            numbers.tolist(),
            scores.tolist(),
            lexical,
            around,
            cosine,
            found.near[:, ::BESIDE].tolist(),
            found.kept[:, SAID].tolist(),
            found.kept[:, GROUP].tolist(),
            in_time,
            dict(zip(words.numbers, words.addresses, strict=True)),
        )

    def _said(self, asked: Question, terms: list[Term] | None) -> WordCandidates:
        """Return the candidates by words: none for a question without `terms`."""
        words = Bm25Matches([], [], []) if terms is None else self._words(asked, terms)
        return candidates.find_by_words(words, self._vectors, filtered=self._only is not None)

    def _words(self, asked: Question, terms: list[Term]) -> Bm25Matches:
        """Return what the words find, and more of the time that the question names."""
        text = self._text
        found = bm25.find_matches(text, asked, terms, self._only, candidates.POOL)
        if asked.phrases:
            more = bm25.find_phrases(text, asked, self._only, candidates.POOL)
            self._quoted = more.numbers
            found = bm25.intersect(found, more)
        if not asked.period:
            return found
        within = bm25.combine_queries(self._only, text.between("at", *asked.period[:2]))
        more = bm25.find_matches(text, asked, terms, within, candidates.POOL // 2)
        return bm25.intersect(found, more)

    def _allowed(self, vector: NDArray[np.int8], *, exact: bool) -> NDArray[np.int64] | None:
        """Return the numbers of the documents that the filter allows, None: all of them.

        Of very many those that are near: they are held against the filter, not listed.
        """
        if self._only is None:
            return None
        text, vectors = self._text, self._vectors
        few = max(_FEW, text.searcher.num_docs // _SHARE)
        some = text.search(self._only, few)
        if len(some) < few:
            return np.array(text.numbers([address for _, address in some]), np.int64)
        wanted = 2 * candidates.POOL
        while True:
            near = vectors.nearest(vector, wanted, exact=exact)
            numbers = bm25.filter_documents(text, near.tolist(), self._only)
            if len(numbers) >= candidates.POOL or wanted >= vectors.extent.documents:
                return np.array(numbers, np.int64)
            wanted *= 4

    def _fused(self, found: SearchCandidates, asked: QueryVector, reranked: int) -> Scores:
        """Return scores by all that is known; the best get their place by late interaction."""
        evidence = found.found
        scores = fusion.score_first(evidence)
        ranked = fusion.rank_places(evidence, scores)
        best, rest = ranked[:reranked], ranked[reranked:]
        full = candidates.rerank(found, best, self._vectors, asked)
        top = float(scores[rest].max(initial=0.0))
        scores = scores * (float(full.min()) / top if top > 0 else 0.0)
        scores[best] = full
        return scores

    def _recency(self, times: NDArray[np.uint32]) -> Scores:
        """Return what each candidate's score is multiplied with for being of late."""
        age = np.maximum(self._now - times, 0.0)  # of one without a time, decades
        return np.asarray(1.0 + _FRESH * np.exp2(-age / _HALF_LIFE))
