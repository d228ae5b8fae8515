"""Fusion: what speaks for each candidate becomes one ranking. Pure numpy.

BM25 is scaled by its maximum, cosine and MaxSim min-max over the candidates. A turn of a
conversation is judged by the turns beside it and by its session; what stands alone (a passage, a
block) by itself. All candidates are ranked by words and vectors, and the best of them again by late
interaction (MaxSim), which costs more: of a turn together with those before it, since an answer
follows what was asked. `memfs bench retrieval` tells what the weights are worth. They are round
numbers: of turns and of long documents, near what each half of the LoCoMo conversations chose for
the other half; of what stands alone, from the middle of where it makes no difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import TypeVar

    from numpy.typing import NDArray

    Scores = NDArray[np.float64]
    Number = TypeVar("Number", np.float32, np.float64)

# What a candidate is; what counts how much for it (lexical, around, session, cosine, maxsim).
TURN, ALONE, LONG = range(3)
WEIGHTS = np.array(
    [
        [0.08, 0.14, 0.14, 0.28, 0.36],  # a turn of a conversation
        [0.50, 0.00, 0.00, 0.25, 0.25],  # what stands alone
        [0.45, 0.00, 0.00, 0.10, 0.45],  # what stands alone and is long: several windows
    ]
)
_BY_KIND = np.ascontiguousarray(WEIGHTS.T)
_FIRST = WEIGHTS[:, :-1].sum(axis=1)
RERANKED = 60  # candidates that are ranked by late interaction
_NOISE = 1e-6  # cosines that differ by less are the same
_LEAST = np.array([0.0, 0.0, 0.0, _NOISE])[:, None]
PIN = 5  # the best lexical hit is never pushed behind this place


@dataclass(frozen=True)
class RankingEvidence:
    """What is known of n candidates: `known` (4 x n) in rows, `kind` is TURN, ALONE or LONG.

    `lexical` is BM25, `around` that of the turns beside it and its own, `session` that of the best
    turn of its session.
    """

    known: Scores
    kind: NDArray[np.intp]

    @property
    def lexical(self) -> Scores:
        return np.asarray(self.known[0])

    @property
    def around(self) -> Scores:
        return np.asarray(self.known[1])

    @property
    def session(self) -> Scores:
        return np.asarray(self.known[2])

    @property
    def cosine(self) -> Scores:
        return np.asarray(self.known[3])

    def of(self, at: NDArray[np.intp]) -> RankingEvidence:
        """Return the evidence of the candidates at some places."""
        return RankingEvidence(self.known[:, at], self.kind[at])


def score_first(found: RankingEvidence) -> Scores:
    """Return a score (0 to 1) for each candidate, by words and vectors alone."""
    scores = (_BY_KIND[:-1, found.kind] * _features(found)).sum(axis=0)
    return np.asarray(scores / _FIRST[found.kind])


def score_full(found: RankingEvidence, maxsim: NDArray[np.floating]) -> Scores:
    """Return a score (0 to 1) for each candidate, with late interaction."""
    weights = _BY_KIND[:, found.kind]
    scores = (weights[:-1] * _features(found)).sum(axis=0)
    return np.asarray(scores + weights[-1] * _min_max(maxsim))


def _features(found: RankingEvidence) -> Scores:
    """Return what words and vectors say, each from 0 to 1: 4 x n."""
    known = found.known
    if not known.size:
        return known
    low = np.zeros((4, 1))
    low[3] = known[3].min()
    span = known.max(axis=1, keepdims=True) - low
    span[span <= _LEAST] = np.inf  # it says nothing
    return np.asarray((known - low) / span)


def rank_places(found: RankingEvidence, scores: Scores) -> NDArray[np.intp]:
    """Return the candidates' places, best first, with the best lexical one among the first."""
    ranking = np.argsort(-scores, kind="stable")
    if len(ranking) > PIN and found.lexical.max() > 0:
        best = int(found.lexical.argmax())
        if best not in ranking[:PIN].tolist():
            others = ranking[ranking != best]
            ranking = np.concatenate([others[: PIN - 1], [best], others[PIN - 1 :]])
    return ranking


def most(values: NDArray[Number], counts: NDArray[np.intp]) -> NDArray[Number]:
    """Return the largest of the values of each owner, 0 for one that has none.

    `values` (n, or n x m: by column) are those of one owner after the other, `counts` of each.
    """
    least = counts.min(initial=1)
    if least and len(values) == len(counts):
        return values
    begins = counts.cumsum() - counts
    if least:
        return np.asarray(np.maximum.reduceat(values, begins, axis=0))
    out = np.zeros((len(counts), *values.shape[1:]), values.dtype)
    some = counts > 0
    if some.any():
        out[some] = np.maximum.reduceat(values, begins[some], axis=0)
    return out


def _min_max(values: NDArray[np.floating]) -> Scores:
    found = values.astype(np.float64)
    if not len(found):
        return found
    low, high = found.min(), found.max()
    return (found - low) / (high - low) if high - low > _NOISE else np.zeros_like(found)
