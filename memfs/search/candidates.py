"""The documents that may be what a question is after, and what speaks for each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from memfs.search import fusion, semantic
from memfs.search.fusion import RankingEvidence
from memfs.search.vector_layout import GROUP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memfs.search.bm25 import Bm25Matches
    from memfs.search.encoder import TokenIds
    from memfs.search.semantic import VectorIndex

    Numbers = NDArray[np.int64]
    Scores = NDArray[np.float64]

POOL = 48  # candidates of each side: the same for every page, or pages would not fit together
BESIDE = 2  # turns before and after one that speak for it
_FADE = 0.9 ** np.arange(1, BESIDE + 1)  # what each of them counts
_FADED = _FADE.astype(np.float32)
_SIDES = np.tile(_FADE, 2)
_STARS = 5  # of the best by words, the turn after them is a candidate too
_WINDOWS = 6  # of a long document that are looked at closely


@dataclass(frozen=True)
class QueryVector:
    """A question as the vectors see it: int8, as the rows are, and its tokens, each once.

    `weights` is what each of them says (see `VectorIndex.weights`).
    """

    vector: NDArray[np.int8]
    tokens: TokenIds
    weights: NDArray[np.float32]


@dataclass(frozen=True)
class WordCandidates:
    """The candidates by words, the best first, and what is right after the best of them."""

    words: Bm25Matches
    matched: Numbers
    after: Numbers
    ordered: Numbers
    scores: Scores  # of the ordered ones

    def scores_of(self, numbers: Numbers) -> Scores:
        """Return the score of each document, 0 for those that have none."""
        if not len(self.ordered):
            return np.zeros(numbers.shape)
        places = np.searchsorted(self.ordered, numbers)
        found = self.ordered.take(places, mode="clip") == numbers
        return np.where(found, self.scores.take(places, mode="clip"), 0.0)


@dataclass(frozen=True)
class SearchCandidates:
    """n document numbers and what is known of them.

    `near` (n x 2 BESIDE) are the numbers of those beside each (see `VectorIndex.neighbours`),
    `kept` (a column each) is what the index keeps of them (see `vector_layout`), `first` and
    `counts` their rows.
    """

    numbers: Numbers
    found: RankingEvidence
    near: Numbers
    kept: NDArray[np.uint32]
    first: NDArray[np.intp]
    counts: NDArray[np.intp]


def find_by_words(words: Bm25Matches, vectors: VectorIndex, *, filtered: bool) -> WordCandidates:
    """Return the candidates by words; if there is a filter, what is beside them is none."""
    numbers, scores = np.array(words.numbers, np.int64), np.array(words.scores, np.float64)
    order = np.argsort(numbers)
    after = np.zeros(0, np.int64)
    if not filtered:
        after = vectors.neighbours(numbers[:_STARS], 1)[:, 1]
    return WordCandidates(words, numbers, after[after > 0], numbers[order], scores[order])


def gather(
    said: WordCandidates, nearest: Numbers, vectors: VectorIndex, asked: QueryVector
) -> SearchCandidates:
    """Return the candidates by words and by vectors."""
    numbers = semantic.drop_repeats(np.concatenate([said.matched, nearest, said.after]))
    kept = vectors.of(numbers)
    near = vectors.neighbours(numbers, BESIDE, kept)
    first, counts = vectors.spans(numbers, kept)
    scored = said.scores_of(np.column_stack([numbers, near]))
    known = np.empty((4, len(numbers)))
    known[0] = scored[:, 0]
    known[1] = known[0] + scored[:, 1:] @ _SIDES
    known[2] = _of_sessions(kept[:, GROUP].tolist(), scored[:, 0].tolist())
    known[3] = fusion.most(
        vectors.cosines(asked.vector, semantic.flatten_ranges(first, counts)), counts
    )
    kind = np.where(near.any(axis=1), fusion.TURN, np.where(counts > 1, fusion.LONG, fusion.ALONE))
    return SearchCandidates(numbers, RankingEvidence(known, kind), near, kept, first, counts)


def rerank(
    candidates: SearchCandidates, places: NDArray[np.intp], vectors: VectorIndex, asked: QueryVector
) -> Scores:
    """Return the full scores of the candidates at some places: with late interaction."""
    evidence = candidates.found.of(places)
    if not len(asked.tokens):
        return fusion.score_full(evidence, np.zeros(len(places)))
    counts, rows = _nearest_windows(
        vectors, asked.vector, candidates.first[places], candidates.counts[places]
    )
    before = candidates.near[places, :BESIDE].ravel()
    first, of_before = vectors.spans(before)
    of_before = np.where(before > 0, np.minimum(of_before, _WINDOWS), 0)
    texts = [*rows.tolist(), *semantic.flatten_ranges(first, of_before).tolist()]
    place = {row: at for at, row in enumerate(dict.fromkeys(texts))}  # each is looked at once
    best = _best_of_tokens(vectors, asked.tokens, np.array(list(place), np.intp))
    best = np.take(best, [place[row] for row in texts], axis=0)
    told = fusion.most(best[len(rows) :], of_before)
    told = told.reshape(len(places), BESIDE, len(asked.tokens))
    told = (told * _FADED[:, None]).max(axis=1)
    # Not by `@`: some builds of BLAS warn of an invalid value where every number is a good one.
    closest = np.maximum(best[: len(rows)], np.repeat(told, counts, axis=0)) * asked.weights
    closest = closest.sum(axis=1)
    return fusion.score_full(evidence, fusion.most(closest, counts))


def _best_of_tokens(
    vectors: VectorIndex, tokens: TokenIds, rows: NDArray[np.intp]
) -> NDArray[np.float32]:
    """Return the best cosine of each token in each row: rows x tokens."""
    counts, said = vectors.tokens_of(rows)
    seen = np.zeros(vectors.encoder.size, np.bool_)
    seen[said] = True
    ids = np.flatnonzero(seen)
    place = np.empty(len(seen), np.int32)  # of ids alone: the rest is not even touched
    place[ids] = np.arange(len(ids))
    similar = vectors.encoder.cosines(ids, tokens)
    return fusion.most(similar.take(place[said], 0, mode="clip"), counts)


def _nearest_windows(
    vectors: VectorIndex, query: NDArray[np.int8], first: NDArray[np.intp], counts: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of documents, of a long one the nearest to `query`: how many each, rows."""
    rows = semantic.flatten_ranges(first, counts)
    if counts.max(initial=0) <= _WINDOWS:
        return counts, rows
    which = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((-vectors.cosines(query, rows), which))
    rank = np.arange(len(which)) - np.searchsorted(which, which)
    return np.minimum(counts, _WINDOWS), rows[order][rank < _WINDOWS]


def _of_sessions(groups: list[int], lexical: list[float]) -> list[float]:
    """Return for each candidate the score of the best turn of its session.

    Those that words found come first, the best of them before the others.
    """
    best = dict(zip(reversed(groups), reversed(lexical), strict=True))
    return [best[group] if group else score for group, score in zip(groups, lexical, strict=True)]
