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
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Scores = NDArray[np.float64]

# Of a turn of a conversation; of what stands alone. Each row adds up to 1.
LEXICAL, AROUND, SESSION, COSINE, MAXSIM, CONTEXT = 0.11, 0.16, 0.11, 0.16, 0.19, 0.27
LONE_LEXICAL, LONE_COSINE, LONE_MAXSIM = 0.53, 0.21, 0.26
RERANKED = 40  # candidates that are ranked by late interaction
_NOISE = 1e-6  # cosines that differ by less are the same
PIN = 5  # the best lexical hit is never pushed behind this place


@dataclass(frozen=True)
class Evidence:
    """What is known of n candidates: n values each.

    `lexical` is BM25, `around` that of the turns beside it and its own, `session` that of the best
    turns of its session. `alone`: there are none beside it.
    """

    lexical: Scores
    around: Scores
    session: Scores
    cosine: Scores
    alone: NDArray[np.bool_]

    def of(self, indexes: list[int]) -> Evidence:
        """Return the evidence of some of the candidates."""
        at = np.array(indexes, np.intp)
        return Evidence(
            self.lexical[at], self.around[at], self.session[at], self.cosine[at], self.alone[at]
        )


def first(found: Evidence) -> Scores:
    """Return a score (0 to 1) for each candidate, by words and vectors alone."""
    turn = LEXICAL + AROUND + SESSION + COSINE
    lone = LONE_LEXICAL + LONE_COSINE
    turns, others = _parts(found)
    return np.where(found.alone, others / lone, turns / turn)


def full(found: Evidence, maxsim: Scores, context: Scores) -> Scores:
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


def order(found: Evidence, scores: Scores) -> list[int]:
    """Return the candidates' indexes, best first, with the best lexical one among the first."""
    ranking = [int(index) for index in np.argsort(-scores, kind="stable")]
    if len(ranking) > PIN and found.lexical.max() > 0:
        best = int(found.lexical.argmax())
        place = ranking.index(best)
        if place >= PIN:
            ranking.insert(PIN - 1, ranking.pop(place))
    return ranking


def best_of_tokens(
    similar: NDArray[np.float64], tokens: Sequence[NDArray[np.uint16]], ids: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return each query token's best cosine in each text: q x n, 0 for a text without tokens.

    `tokens` are the token ids of n texts, `ids` the sorted ids that occur in them, and `similar`
    the cosine of each query token to each of those (q x ids).
    """
    out = np.zeros((len(similar), len(tokens)))
    lengths = np.array([len(row) for row in tokens], np.intp)
    filled = np.flatnonzero(lengths)
    if len(ids) and len(filled) and len(similar):
        place = np.zeros(int(ids[-1]) + 1, np.intp)
        place[ids] = np.arange(len(ids))
        flat = place[np.concatenate([tokens[int(index)] for index in filled])]
        starts = np.concatenate([[0], np.cumsum(lengths[filled])[:-1]])
        out[:, filled] = np.maximum.reduceat(np.take(similar, flat, axis=1), starts, axis=1)
    return out


def _by_maximum(values: Scores) -> Scores:
    top = values.max(initial=0.0)
    return values / top if top > 0 else values


def _min_max(values: Scores) -> Scores:
    if not len(values):
        return values
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high - low > _NOISE else np.zeros_like(values)
