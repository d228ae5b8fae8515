"""Ranking by words and meaning: the candidates, their fused scores, their weights and times."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memfs.search import bm25, candidates, fusion, threads
from memfs.search.bm25 import Bm25Matches
from memfs.search.candidates import BESIDE, QueryVector, SearchCandidates, WordCandidates
from memfs.search.lexical import Query, Term, TextIndex
from memfs.search.query_dates import Period
from memfs.search.query_parser import Question
from memfs.search.ranking import IN_TIME, Ranking
from memfs.search.semantic import VectorIndex
from memfs.search.vector_layout import AT, GROUP, LARGEST, SAID, WEIGHT

if TYPE_CHECKING:
    from memfs.search.encoder import TokenIds

    Scores = NDArray[np.float64]

# The least cosine of a document that has no word of the question.
# A higher floor loses answers (0.2 costs 7 points of recall at 5 on precisionmembench).
FLOOR = 0.0
_FRESH = 0.01  # bonus of a hit of today; half of it after a month
_HALF_LIFE = 30 * 86400.0  # seconds
_QUOTED = 1.0  # bonus of a hit that contains a quoted phrase
_FEW, _SHARE = 5000, 20  # documents, or one in so many: the matches of a narrower filter are listed


class HybridSearch:
    """Ranks the documents of one index for one question."""

    def __init__(
        self, text: TextIndex, vectors: VectorIndex, only: Query | None, now: float
    ) -> None:
        self._text, self._vectors = text, vectors
        self._only, self._now = only, now
        self._quoted: list[int] = []  # numbers of documents with a quoted phrase

    def rank(
        self, question: Question, terms: list[Term], *, by_words: bool, reranked: int | None = None
    ) -> Ranking:
        """Return the ranking for a question and its terms: by meaning, or by words and meaning."""
        vectors = self._vectors
        both = by_words and self._only is None  # vectors are searched meanwhile
        find_words = partial(self._find_word_candidates, question, terms if by_words else None)
        wait_for_words = threads.begin_call(find_words) if both else find_words
        query = self._encode_query(question.text)
        nearest = vectors.find_nearest(query.vector, candidates.POOL) if both else None
        word_candidates = wait_for_words()
        exact = not word_candidates.words.numbers  # only meaning can find them
        if nearest is None or (exact and vectors.graph):
            allowed = self._apply_filter(query.vector, exact=exact)
            nearest = vectors.find_nearest(query.vector, candidates.POOL, allowed, exact=exact)
        found = candidates.gather(word_candidates, nearest, vectors, query)
        scores = np.maximum(found.found.cosine, 0.0)
        if by_words:
            scores = self._fuse(found, query, fusion.RERANKED if reranked is None else reranked)
        ranking = self._build_ranking(found, scores, word_candidates.words, question.period)
        ranking.vector = query.vector
        return ranking

    def _encode_query(self, text: str) -> QueryVector:
        vectors = self._vectors
        encoded = vectors.encoder.encode([text])
        vector = np.rint(encoded.vectors[0] * LARGEST).astype(np.int8)
        tokens: TokenIds = np.array(sorted({*encoded.tokens[0].tolist()}), vectors.encoder.ids)
        return QueryVector(vector, tokens, vectors.weigh_tokens(tokens))

    def _build_ranking(
        self, found: SearchCandidates, scores: Scores, words: Bm25Matches, period: Period | None
    ) -> Ranking:
        numbers, evidence = found.numbers, found.found
        times, weights = found.kept[:, AT], found.kept[:, WEIGHT]
        alive = (weights > 0) | (evidence.lexical > 0)  # new documents have no vectors yet
        weights = np.where(weights > 0, weights, 100)
        scores = scores * (weights / 100) * self._compute_recency(times)
        in_time = [False] * len(numbers)
        if period:
            is_timely = (times >= period.since) & (times <= period.until)
            scores, in_time = scores + IN_TIME * is_timely, is_timely.tolist()
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

    def _find_word_candidates(self, question: Question, terms: list[Term] | None) -> WordCandidates:
        """Return the candidates by words; none if `terms` is None."""
        words = Bm25Matches([], [], []) if terms is None else self._match_words(question, terms)
        return candidates.find_by_words(words, self._vectors, filtered=self._only is not None)

    def _match_words(self, question: Question, terms: list[Term]) -> Bm25Matches:
        """Return the matches by words, and more from the period that the question names."""
        text = self._text
        found = bm25.find_matches(text, question, terms, self._only, candidates.POOL)
        if question.phrases:
            more = bm25.find_phrases(text, question, self._only, candidates.POOL)
            self._quoted = more.numbers
            found = bm25.intersect(found, more)
        if not question.period:
            return found
        within = bm25.combine_queries(self._only, text.range_query("at", *question.period[:2]))
        more = bm25.find_matches(text, question, terms, within, candidates.POOL // 2)
        return bm25.intersect(found, more)

    def _apply_filter(self, vector: NDArray[np.int8], *, exact: bool) -> NDArray[np.int64] | None:
        """Return the numbers of the documents that pass the filter; None: all of them.

        If the filter passes very many, only the documents near the vector are checked against it.
        """
        if self._only is None:
            return None
        text, vectors = self._text, self._vectors
        few = max(_FEW, text.searcher.num_docs // _SHARE)
        some = text.search(self._only, few)
        if len(some) < few:
            return np.array(text.numbers([address for _, address in some]), np.int64)
        limit = 2 * candidates.POOL
        while True:
            near = vectors.find_nearest(vector, limit, exact=exact)
            numbers = bm25.filter_documents(text, near.tolist(), self._only)
            if len(numbers) >= candidates.POOL or limit >= vectors.extent.documents:
                return np.array(numbers, np.int64)
            limit *= 4

    def _fuse(self, found: SearchCandidates, query: QueryVector, reranked: int) -> Scores:
        """Return the fused scores; the best candidates are ranked again by late interaction."""
        evidence = found.found
        scores = fusion.score_first(evidence)
        ranked = fusion.rank_places(evidence, scores)
        best, rest = ranked[:reranked], ranked[reranked:]
        full = candidates.rerank(found, best, self._vectors, query)
        top = float(scores[rest].max(initial=0.0))
        scores = scores * (float(full.min()) / top if top > 0 else 0.0)
        scores[best] = full
        return scores

    def _compute_recency(self, times: NDArray[np.uint32]) -> Scores:
        """Return the factor for each candidate's age: newer documents score higher."""
        age = np.maximum(self._now - times, 0.0)  # decades for a document without a time
        return np.asarray(1.0 + _FRESH * np.exp2(-age / _HALF_LIFE))
