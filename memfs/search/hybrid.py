"""Ranking by words and meaning: the candidates, the evidence for each, their weights and times.

A score is a weighted sum whose parts do not depend on the other candidates. The weights were chosen
on eight groups of questions (`benchmarks/retrieval.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memfs.search import ranking, semantic
from memfs.search.lexical import Query, Term, TextIndex, match_all
from memfs.search.query_dates import Period, Question
from memfs.search.ranking import IN_TIME, Bm25Matches, Ranking
from memfs.search.semantic import VectorIndex
from memfs.search.vector_layout import AT, GROUP, LARGEST, SAID, WEIGHT

if TYPE_CHECKING:
    from memfs.search.encoder import TokenIds

    Scores = NDArray[np.float64]
    Numbers = NDArray[np.int64]


POOL = 48  # candidates by words, and by vectors: constant, since pages must fit together
BESIDE = 2  # turns before and after one that count for it
_FADE = 0.9 ** np.arange(1, BESIDE + 1)  # the weight of each
_FADED = _FADE.astype(np.float32)
_SIDES = np.tile(_FADE, 2)
_STARS = 5  # of the best by words: the turn after each is a candidate, too
_WINDOWS = 6  # of a long document, for late interaction
# The weights of the evidence (see `SearchCandidates`), and of late interaction: with the text of a
# candidate, and with the turns before it, too, since an answer follows a question.
_KNOWN = np.array([0.03, 0.02, 0.18, 0.27])
_ALONE, _FOLLOWING = 0.13, 0.35
_RERANKED = 60  # candidates for it: all of them give the same first ten

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
        encoded = vectors.encoder.encode([question.text])
        vector = np.rint(encoded.vectors[0] * LARGEST).astype(np.int8)
        tokens: TokenIds = np.array(sorted({*encoded.tokens[0].tolist()}), vectors.encoder.ids)
        query = QueryVector(vector, tokens, vectors.weigh_tokens(tokens))
        words = self._match_words(question, terms) if by_words else Bm25Matches([], [], [])
        word_candidates = find_by_words(words, vectors, filtered=self._only is not None)
        exact = not words.numbers  # only meaning can find them
        allowed = self._apply_filter(query.vector, exact=exact)
        nearest = vectors.find_nearest(query.vector, POOL, allowed, exact=exact)
        weight = ranking.weigh_question(self._text, question, terms)
        found = gather(word_candidates, weight, nearest, vectors, query)
        scores = np.maximum(found.known[3], 0.0)
        if by_words:  # with late interaction for the best
            scores = np.asarray(_KNOWN @ found.known)
            best = np.argsort(-scores, kind="stable")[: reranked or _RERANKED]
            scores[best] += interact(found, best, vectors, query)
        made = self._build_ranking(found, scores, words, question.period)
        made.vector = query.vector
        return made

    def _build_ranking(
        self, found: SearchCandidates, scores: Scores, words: Bm25Matches, period: Period | None
    ) -> Ranking:
        numbers, (lexical, around, _, cosine) = found.numbers, found.known
        times, weights = found.kept[:, AT], found.kept[:, WEIGHT]
        alive = (weights > 0) | (lexical > 0)  # new documents have no vectors yet
        weights = np.where(weights > 0, weights, 100)
        age = np.maximum(self._now - times, 0.0)  # decades for a document without a time
        scores = scores * (weights / 100) * (1.0 + _FRESH * np.exp2(-age / _HALF_LIFE))
        in_time = [False] * len(numbers)
        if period:
            is_timely = (times >= period.since) & (times <= period.until)
            scores, in_time = scores + IN_TIME * is_timely, is_timely.tolist()
        if self._quoted:
            scores = scores + _QUOTED * np.isin(numbers, self._quoted)
        ranked = np.argsort(-scores, kind="stable")
        shown = alive & ((cosine > FLOOR) | (around > 0))
        return Ranking(
            ranked[shown[ranked]].tolist(),
            numbers.tolist(),
            scores.tolist(),
            lexical.tolist(),
            around.tolist(),
            cosine.tolist(),
            found.near[:, ::BESIDE].tolist(),
            found.kept[:, SAID].tolist(),
            found.kept[:, GROUP].tolist(),
            in_time,
            dict(zip(words.numbers, words.addresses, strict=True)),
        )

    def _match_words(self, question: Question, terms: list[Term]) -> Bm25Matches:
        """Return the matches by words, and more from the period that the question names."""
        text = self._text
        found = ranking.find_matches(text, question, terms, self._only, POOL)
        if question.phrases:
            more = ranking.find_phrases(text, question, self._only, POOL)
            self._quoted = more.numbers
            found = ranking.unite(found, more)
        if not question.period:
            return found
        within = match_all(self._only, text.range_query("at", *question.period[:2]))
        more = ranking.find_matches(text, question, terms, within, POOL // 2)
        return ranking.unite(found, more)

    def _apply_filter(self, vector: NDArray[np.int8], *, exact: bool) -> NDArray[np.int64] | None:
        """Return the documents that pass the filter, near ones if many; None: no filter."""
        if self._only is None:
            return None
        text, vectors = self._text, self._vectors
        few = max(_FEW, text.searcher.num_docs // _SHARE)
        some = text.search(self._only, few)
        if len(some) < few:
            return np.array(text.numbers([address for _, address in some]), np.int64)
        limit = 2 * POOL
        while True:
            near = vectors.find_nearest(vector, limit, exact=exact)
            numbers = ranking.filter_documents(text, near.tolist(), self._only)
            if len(numbers) >= POOL or limit >= vectors.extent.documents:
                return np.array(numbers, np.int64)
            limit *= 4


@dataclass(frozen=True)
class QueryVector:
    """A question for the vector index: its int8 vector, and its distinct token ids.

    `weights` holds the weight of each token (see `VectorIndex.weigh_tokens`).
    """

    vector: NDArray[np.int8]
    tokens: TokenIds
    weights: NDArray[np.float32]


@dataclass(frozen=True)
class WordCandidates:
    """The candidates by words, the best first, and the documents right after the best of them."""

    matched: Numbers
    after: Numbers
    ordered: Numbers
    scores: Scores  # of the ordered ones

    def get_scores(self, numbers: Numbers) -> Scores:
        if not len(self.ordered):
            return np.zeros(numbers.shape)
        places = np.searchsorted(self.ordered, numbers)
        found = self.ordered.take(places, mode="clip") == numbers
        return np.where(found, self.scores.take(places, mode="clip"), 0.0)


@dataclass(frozen=True)
class SearchCandidates:
    """n document numbers with their evidence.

    The rows of `known` (4 x n) are BM25, that of a turn with its neighbours, the best of its
    session (these as shares of the question's weight), and the cosine of the nearest window.
    `near` (n x 2 BESIDE) are the numbers of their neighbours (see `VectorIndex.find_neighbours`),
    `kept` their records in the index (see `vector_layout`), `first` and `counts` their row ranges.
    """

    numbers: Numbers
    known: Scores
    near: Numbers
    kept: NDArray[np.uint32]
    first: NDArray[np.intp]
    counts: NDArray[np.intp]


def find_by_words(words: Bm25Matches, vectors: VectorIndex, *, filtered: bool) -> WordCandidates:
    """Return the candidates by words; with a filter, their neighbours are no candidates."""
    numbers, scores = np.array(words.numbers, np.int64), np.array(words.scores, np.float64)
    order = np.argsort(numbers)
    after = np.zeros(0, np.int64)
    if not filtered:
        after = vectors.find_neighbours(numbers[:_STARS], 1)[:, 1]
    return WordCandidates(numbers, after[after > 0], numbers[order], scores[order])


def gather(
    by_words: WordCandidates,
    weight: float,
    nearest: Numbers,
    vectors: VectorIndex,
    query: QueryVector,
) -> SearchCandidates:
    """Return the candidates by words and by vectors; `weight` is that of the question's words."""
    numbers = semantic.drop_repeats(np.concatenate([by_words.matched, nearest, by_words.after]))
    records = vectors.get_records(numbers)
    near = vectors.find_neighbours(numbers, BESIDE, records)
    first, counts = vectors.get_row_ranges(numbers, records)
    scored = by_words.get_scores(np.column_stack([numbers, near]))
    # Without a weight no word is known as it is written: the best correction counts as all of them.
    scored /= weight or scored.max(initial=0.0) or 1.0
    known = np.empty((4, len(numbers)))
    known[0] = scored[:, 0]
    known[1] = known[0] + scored[:, 1:] @ _SIDES
    groups, lexical = records[:, GROUP].tolist(), scored[:, 0].tolist()
    best = dict(zip(reversed(groups), reversed(lexical), strict=True))  # by words, the best first
    known[2] = [
        best[group] if group else score for group, score in zip(groups, lexical, strict=True)
    ]
    known[3] = semantic.most(
        vectors.get_cosines(query.vector, semantic.flatten_ranges(first, counts)), counts
    )
    return SearchCandidates(numbers, known, near, records, first, counts)


def interact(
    candidates: SearchCandidates, places: NDArray[np.intp], vectors: VectorIndex, query: QueryVector
) -> Scores:
    """Return the weighted late interaction (MaxSim) of the candidates at `places`."""
    if not len(query.tokens):
        return np.zeros(len(places))
    counts, rows = _select_nearest_windows(
        vectors, query.vector, candidates.first[places], candidates.counts[places]
    )
    before = candidates.near[places, :BESIDE].ravel()
    first, of_before = vectors.get_row_ranges(before)
    of_before = np.where(before > 0, np.minimum(of_before, _WINDOWS), 0)
    texts = [*rows.tolist(), *semantic.flatten_ranges(first, of_before).tolist()]
    place = {row: at for at, row in enumerate(dict.fromkeys(texts))}  # each row once
    best = _compute_token_maxima(vectors, query.tokens, np.array(list(place), np.intp))
    best = np.take(best, [place[row] for row in texts], axis=0)
    before_best = semantic.most(best[len(rows) :], of_before)
    before_best = before_best.reshape(len(places), BESIDE, len(query.tokens))
    before_best = (before_best * _FADED[:, None]).max(axis=1)
    own = best[: len(rows)]
    following = np.maximum(own, np.repeat(before_best, counts, axis=0))
    # Not by `@`: some builds of BLAS warn of an invalid value where every number is a good one.
    alone, following = ((each * query.weights).sum(axis=1) for each in (own, following))
    return np.asarray(
        _ALONE * semantic.most(alone, counts) + _FOLLOWING * semantic.most(following, counts)
    )


def _compute_token_maxima(
    vectors: VectorIndex, tokens: TokenIds, rows: NDArray[np.intp]
) -> NDArray[np.float32]:
    counts, row_tokens = vectors.get_tokens(rows)
    seen = np.zeros(vectors.encoder.size, np.bool_)
    seen[row_tokens] = True
    ids = np.flatnonzero(seen)
    place = np.empty(len(seen), np.int32)  # only the entries of ids are set and read
    place[ids] = np.arange(len(ids))
    similar = vectors.encoder.compute_cosines(ids, tokens)
    return semantic.most(similar.take(place[row_tokens], 0, mode="clip"), counts)


def _select_nearest_windows(
    vectors: VectorIndex, query: NDArray[np.int8], first: NDArray[np.intp], counts: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the row counts of documents, and their rows; of a long one only the nearest."""
    rows = semantic.flatten_ranges(first, counts)
    if counts.max(initial=0) <= _WINDOWS:
        return counts, rows
    which = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((-vectors.get_cosines(query, rows), which))
    rank = np.arange(len(which)) - np.searchsorted(which, which)
    return np.minimum(counts, _WINDOWS), rows[order][rank < _WINDOWS]
