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
WEIGHTS = np.array([
    [0.00, 0.20, 0.10, 0.20, 0.50],  # a turn of a conversation
    [0.50, 0.00, 0.00, 0.25, 0.25],  # what stands alone
    [0.45, 0.00, 0.00, 0.10, 0.45],  # what stands alone and is long: several windows
])  # fmt: skip
RERANKED = 25  # candidates that are ranked by late interaction
_NOISE = 1e-6  # cosines that differ by less are the same
PIN = 5  # the best lexical hit is never pushed behind this place


@dataclass(frozen=True)
class Evidence:
    """What is known of n candidates: n values each.

    `lexical` is BM25, `around` that of the turns beside it and its own, `session` that of the best
    turn of its session. `kind` is TURN, ALONE or LONG.
    """

    lexical: Scores
    around: Scores
    session: Scores
    cosine: Scores
    kind: NDArray[np.intp]

    def of(self, at: NDArray[np.intp]) -> Evidence:
        """Return the evidence of the candidates at some places."""
        return Evidence(
            self.lexical[at], self.around[at], self.session[at], self.cosine[at], self.kind[at]
        )


def first(found: Evidence) -> Scores:
    """Return a score (0 to 1) for each candidate, by words and vectors alone."""
    weights = WEIGHTS[found.kind, :-1]
    return np.asarray((weights * _features(found)).sum(axis=1) / weights.sum(axis=1))


def full(found: Evidence, maxsim: NDArray[np.floating]) -> Scores:
    """Return a score (0 to 1) for each candidate, with late interaction."""
    weights = WEIGHTS[found.kind]
    scores = (weights[:, :-1] * _features(found)).sum(axis=1)
    return np.asarray(scores + weights[:, -1] * _min_max(maxsim))


def _features(found: Evidence) -> NDArray[np.float64]:
    """Return what words and vectors say, each from 0 to 1: n x 4."""
    by_words = (found.lexical, found.around, found.session)
    return np.stack([*(_by_maximum(each) for each in by_words), _min_max(found.cosine)], axis=1)


def order(found: Evidence, scores: Scores) -> NDArray[np.intp]:
    """Return the candidates' places, best first, with the best lexical one among the first."""
    ranking = np.argsort(-scores, kind="stable")
    if len(ranking) > PIN and found.lexical.max() > 0:
        best = int(found.lexical.argmax())
        place = int(np.flatnonzero(ranking == best)[0])
        if place >= PIN:
            ranking = np.insert(np.delete(ranking, place), PIN - 1, best)
    return ranking


def most(values: NDArray[Number], of: NDArray[np.intp], count: int) -> NDArray[Number]:
    """Return the largest of the values of each of `count` owners, 0 for one that has none.

    `values` (n, or n x m: by column) are those of the owners `of`, which rise.
    """
    out = np.zeros((count, *values.shape[1:]), values.dtype)
    if len(of):
        begins = np.concatenate([[0], np.flatnonzero(of[1:] != of[:-1]) + 1])
        out[of[begins]] = np.maximum.reduceat(values, begins, axis=0)
    return out


def _by_maximum(values: Scores) -> Scores:
    top = values.max(initial=0.0)
    return values / top if top > 0 else values


def _min_max(values: NDArray[np.floating]) -> Scores:
    found = values.astype(np.float64)
    if not len(found):
        return found
    low, high = found.min(), found.max()
    return (found - low) / (high - low) if high - low > _NOISE else np.zeros_like(found)
