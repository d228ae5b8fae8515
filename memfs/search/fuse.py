"""Fusion: what speaks for each candidate becomes one ranking. Pure numpy.

BM25 is scaled by its maximum, cosine and MaxSim min-max over the candidates. A turn of a
conversation is also judged by the turns beside it and by its session; what stands alone (a
passage, a block) by itself. All candidates are ranked by words and vectors, and the best of them
again by late interaction (MaxSim), which costs more. `memfs bench retrieval` tells
what the weights are worth. Those of turns are round numbers near what each half of the LoCoMo
conversations chose for the other; those of what stands alone were chosen on all of the sets.
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

# Of a turn of a conversation; of what stands alone. Each row adds up to 1.
LEXICAL, AROUND, SESSION, COSINE, MAXSIM, CONTEXT = 0.11, 0.16, 0.11, 0.16, 0.19, 0.27
LONE_LEXICAL, LONE_COSINE, LONE_MAXSIM = 0.53, 0.21, 0.26
RERANKED = 30  # candidates that are ranked by late interaction
_NOISE = 1e-6  # cosines that differ by less are the same
PIN = 5  # the best lexical hit is never pushed behind this place


@dataclass(frozen=True)
class Evidence:
    """What is known of n candidates: n values each.

    `lexical` is BM25, `around` that of the turns beside it and its own, `session` that of the best
    turn of its session. `alone`: there are none beside it.
    """

    lexical: Scores
    around: Scores
    session: Scores
    cosine: Scores
    alone: NDArray[np.bool_]

    def of(self, at: NDArray[np.intp]) -> Evidence:
        """Return the evidence of the candidates at some places."""
        return Evidence(
            self.lexical[at], self.around[at], self.session[at], self.cosine[at], self.alone[at]
        )


def first(found: Evidence) -> Scores:
    """Return a score (0 to 1) for each candidate, by words and vectors alone."""
    turn = LEXICAL + AROUND + SESSION + COSINE
    lone = LONE_LEXICAL + LONE_COSINE
    turns, others = _parts(found)
    return np.where(found.alone, others / lone, turns / turn)


def full(found: Evidence, maxsim: NDArray[np.floating], context: NDArray[np.floating]) -> Scores:
    """Return a score (0 to 1) for each candidate, with late interaction.

    `maxsim` is that of its own text, `context` that of it and the turns beside it.
    """
    turns, others = _parts(found)
    own = _min_max(maxsim)
    return np.where(
        found.alone, others + LONE_MAXSIM * own, turns + MAXSIM * own + CONTEXT * _min_max(context)
    )


def _parts(found: Evidence) -> tuple[Scores, Scores]:
    """Return what words and vectors give to turns, and to what stands alone."""
    own, cosine = _by_maximum(found.lexical), _min_max(found.cosine)
    beside = AROUND * _by_maximum(found.around) + SESSION * _by_maximum(found.session)
    return (
        np.asarray(LEXICAL * own + beside + COSINE * cosine),
        np.asarray(LONE_LEXICAL * own + LONE_COSINE * cosine),
    )


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
