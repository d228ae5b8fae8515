"""The documents that may answer a question, and the evidence for each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memfs.search import fusion, semantic
from memfs.search.fusion import RankingEvidence
from memfs.search.semantic import VectorIndex
from memfs.search.vector_layout import GROUP

if TYPE_CHECKING:
    from memfs.search.bm25 import Bm25Matches
    from memfs.search.encoder import TokenIds

    Numbers = NDArray[np.int64]
    Scores = NDArray[np.float64]

POOL = 48  # candidates by words, and by vectors: constant, since pages must fit together
BESIDE = 2  # turns before and after one that count for it
_FADE = 0.9 ** np.arange(1, BESIDE + 1)  # the weight of each
_FADED = _FADE.astype(np.float32)
_SIDES = np.tile(_FADE, 2)
_STARS = 5  # of the best by words: the turn after each is a candidate, too
_WINDOWS = 6  # of a long document, for late interaction


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

    words: Bm25Matches
    matched: Numbers
    after: Numbers
    ordered: Numbers
    scores: Scores  # of the ordered ones

    def get_scores(self, numbers: Numbers) -> Scores:
        """Return the score of each document, 0 for those that have none."""
        if not len(self.ordered):
            return np.zeros(numbers.shape)
        places = np.searchsorted(self.ordered, numbers)
        found = self.ordered.take(places, mode="clip") == numbers
        return np.where(found, self.scores.take(places, mode="clip"), 0.0)


@dataclass(frozen=True)
class SearchCandidates:
    """n document numbers with their evidence.

    `near` (n x 2 BESIDE) are the numbers of their neighbours (see `VectorIndex.find_neighbours`),
    `kept` their records in the index (see `vector_layout`), `first` and `counts` their row ranges.
    """

    numbers: Numbers
    found: RankingEvidence
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
    return WordCandidates(words, numbers, after[after > 0], numbers[order], scores[order])


def gather(
    by_words: WordCandidates, nearest: Numbers, vectors: VectorIndex, query: QueryVector
) -> SearchCandidates:
    """Return the candidates by words and by vectors."""
    numbers = semantic.drop_repeats(np.concatenate([by_words.matched, nearest, by_words.after]))
    records = vectors.get_records(numbers)
    near = vectors.find_neighbours(numbers, BESIDE, records)
    first, counts = vectors.get_row_ranges(numbers, records)
    scored = by_words.get_scores(np.column_stack([numbers, near]))
    known = np.empty((4, len(numbers)))
    known[0] = scored[:, 0]
    known[1] = known[0] + scored[:, 1:] @ _SIDES
    known[2] = _compute_session_scores(records[:, GROUP].tolist(), scored[:, 0].tolist())
    known[3] = fusion.most(
        vectors.get_cosines(query.vector, semantic.flatten_ranges(first, counts)), counts
    )
    kind = np.where(near.any(axis=1), fusion.TURN, np.where(counts > 1, fusion.LONG, fusion.ALONE))
    return SearchCandidates(numbers, RankingEvidence(known, kind), near, records, first, counts)


def rerank(
    candidates: SearchCandidates, places: NDArray[np.intp], vectors: VectorIndex, query: QueryVector
) -> Scores:
    """Return the full scores, with late interaction, of the candidates at `places`."""
    evidence = candidates.found.select(places)
    if not len(query.tokens):
        return fusion.score_full(evidence, np.zeros(len(places)))
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
    before_best = fusion.most(best[len(rows) :], of_before)
    before_best = before_best.reshape(len(places), BESIDE, len(query.tokens))
    before_best = (before_best * _FADED[:, None]).max(axis=1)
    # Not by `@`: some builds of BLAS warn of an invalid value where every number is a good one.
    closest = np.maximum(best[: len(rows)], np.repeat(before_best, counts, axis=0)) * query.weights
    closest = closest.sum(axis=1)
    return fusion.score_full(evidence, fusion.most(closest, counts))


def _compute_token_maxima(
    vectors: VectorIndex, tokens: TokenIds, rows: NDArray[np.intp]
) -> NDArray[np.float32]:
    """Return the best cosine of each token in each row: rows x tokens."""
    counts, row_tokens = vectors.get_tokens(rows)
    seen = np.zeros(vectors.encoder.size, np.bool_)
    seen[row_tokens] = True
    ids = np.flatnonzero(seen)
    place = np.empty(len(seen), np.int32)  # only the entries of ids are set and read
    place[ids] = np.arange(len(ids))
    similar = vectors.encoder.compute_cosines(ids, tokens)
    return fusion.most(similar.take(place[row_tokens], 0, mode="clip"), counts)


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


def _compute_session_scores(groups: list[int], lexical: list[float]) -> list[float]:
    """Return for each candidate the score of the best turn of its session.

    Those that words found come first, the best of them before the others.
    """
    best = dict(zip(reversed(groups), reversed(lexical), strict=True))
    return [best[group] if group else score for group, score in zip(groups, lexical, strict=True)]
