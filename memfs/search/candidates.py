"""The documents that may be what a question is after, and what speaks for each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from memfs.search import fuse, semantic
from memfs.search.fuse import Evidence
from memfs.search.rows import GROUP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memfs.search.encoder import TokenIds
    from memfs.search.matches import Matches
    from memfs.search.semantic import VectorIndex

    Numbers = NDArray[np.int64]
    Scores = NDArray[np.float64]

POOL = 48  # candidates of each side: the same for every page, or pages would not fit together
BESIDE = 2  # turns before and after one that speak for it
_FADE = 0.9 ** np.arange(1, BESIDE + 1)  # what each of them counts
_SIDES = np.tile(_FADE, 2)
_STARS = 5  # of the best by words, the turn after them is a candidate too
_WINDOWS = 6  # of a long document that are looked at closely


@dataclass(frozen=True)
class Asked:
    """A question as the vectors see it: int8, as the rows are, and its distinct tokens."""

    vector: NDArray[np.int8]
    tokens: TokenIds


@dataclass(frozen=True)
class Candidates:
    """n document numbers and what is known of them.

    `near` (n x 2 BESIDE) are the numbers of those beside each (see `VectorIndex.neighbours`),
    `kept` (a column each) is what the index keeps of them (see `rows`).
    """

    numbers: Numbers
    found: Evidence
    near: Numbers
    kept: NDArray[np.uint32]


def gather(
    words: Matches, vectors: VectorIndex, asked: Asked, allowed: Numbers | None
) -> Candidates:
    """Return the candidates by words and by vectors, with the turns beside the best of them."""
    matched = np.array(words.numbers, np.int64)
    scored = _Scored(matched, np.array(words.scores, np.float64))
    nearest = vectors.nearest(asked.vector, POOL, allowed)
    beside = np.zeros(0, np.int64)
    if allowed is None:
        stars = matched[np.argsort(-np.array(words.scores), kind="stable")[:_STARS]]
        beside = vectors.neighbours(stars, 1)[:, 1]
        beside = beside[beside > 0]
    numbers = semantic.distinct(np.concatenate([matched, nearest, beside]))
    near, kept = vectors.neighbours(numbers, BESIDE), vectors.of(numbers)
    lexical = scored.of(numbers)
    first, last = vectors.spans(numbers)
    which, rows = semantic.flat(first, last)
    found = Evidence(
        lexical,
        lexical + scored.of(near) @ _SIDES,
        _of_sessions(kept[:, GROUP], lexical),
        fuse.most(vectors.cosines(asked.vector, rows), which, len(numbers)),
        np.where(near.any(axis=1), fuse.TURN, np.where(last - first > 1, fuse.LONG, fuse.ALONE)),
    )
    return Candidates(numbers, found, near, kept)


def closely(
    candidates: Candidates, places: NDArray[np.intp], vectors: VectorIndex, asked: Asked
) -> Scores:
    """Return the full scores of the candidates at some places: with late interaction."""
    evidence = candidates.found.of(places)
    if not len(asked.tokens):
        return fuse.full(evidence, np.zeros(len(places)))
    numbers = candidates.numbers[places]
    own, rows = _nearest_windows(vectors, asked.vector, numbers)
    before = candidates.near[places, :BESIDE].ravel()
    first, last = vectors.spans(before)
    last = np.where(before > 0, np.minimum(last, first + _WINDOWS), first)
    turn, more = semantic.flat(first, last)
    texts, place = np.unique(np.concatenate([rows, more]), return_inverse=True)
    best = _best_of_tokens(vectors, asked.tokens, texts)
    fade = _FADE.astype(np.float32)[turn % BESIDE, None]
    told = fuse.most(best[place[len(rows) :]] * fade, turn // BESIDE, len(places))
    closest = np.maximum(best[place[: len(rows)]], told[own]) @ vectors.weights(asked.tokens)
    return fuse.full(evidence, fuse.most(closest, own, len(places)))


def _best_of_tokens(
    vectors: VectorIndex, tokens: TokenIds, rows: NDArray[np.intp]
) -> NDArray[np.float32]:
    """Return the best cosine of each token in each row: rows x tokens."""
    of, said = vectors.tokens_of(rows)
    seen = np.zeros(vectors.encoder.size, np.bool_)
    seen[said] = True
    ids = np.flatnonzero(seen)
    place = np.empty(len(seen), np.int32)  # of ids alone: the rest is not even touched
    place[ids] = np.arange(len(ids))
    similar = vectors.encoder.cosines(ids, tokens)
    return fuse.most(similar[place[said]], of, len(rows))


def _nearest_windows(
    vectors: VectorIndex, query: NDArray[np.int8], numbers: Numbers
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of documents, of a long one the nearest to `query`: places and rows."""
    which, rows = semantic.flat(*vectors.spans(numbers))
    if np.bincount(which, minlength=1).max() <= _WINDOWS:
        return which, rows
    order = np.lexsort((-vectors.cosines(query, rows), which))
    rank = np.arange(len(which)) - np.searchsorted(which, which)
    kept = rank < _WINDOWS
    return which[kept], rows[order][kept]


def _of_sessions(groups: NDArray[np.uint32], lexical: Scores) -> Scores:
    """Return for each candidate the score of the best turn of its session."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    session = np.cumsum(ordered[1:] != ordered[:-1])
    session = np.concatenate([[0], session]) if len(order) else order
    best = fuse.most(lexical[order], session, len(order))
    out = np.empty(len(order))
    out[order] = best[session]
    return np.where(groups > 0, out, lexical)


class _Scored:
    """The scores of some documents by their number."""

    def __init__(self, numbers: Numbers, scores: Scores) -> None:
        order = np.argsort(numbers)
        self._numbers, self._scores = numbers[order], scores[order]

    def of(self, numbers: Numbers) -> Scores:
        """Return the score of each document, 0 for those that have none."""
        if not len(self._numbers):
            return np.zeros(numbers.shape)
        places = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        return np.where(self._numbers[places] == numbers, self._scores[places], 0.0)
