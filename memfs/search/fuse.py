"""Fusion: lexical scores, cosines and late interaction into one ranking. Pure numpy.

BM25 is scaled by its maximum, cosine and MaxSim min-max over the candidates; the weights are the
ones that won on conversation turns (see the README of the model and `memfs bench retrieval`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEXICAL, COSINE, MAXSIM = 0.3, 0.3, 0.4
PIN = 5  # the best lexical hit is never pushed behind this place


def fuse(
    lexical: NDArray[np.float64], cosine: NDArray[np.float64], maxsim: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return one score (0 to 1) for each candidate; the arguments are n scores each."""
    return LEXICAL * _by_maximum(lexical) + COSINE * _min_max(cosine) + MAXSIM * _min_max(maxsim)


def order(scores: NDArray[np.float64], lexical: NDArray[np.float64]) -> list[int]:
    """Return the candidates' indexes, best first, with the best lexical one among the first."""
    ranking = [int(index) for index in np.argsort(-scores, kind="stable")]
    if len(ranking) > PIN and lexical.max() > 0:
        best = int(lexical.argmax())
        place = ranking.index(best)
        if place >= PIN:
            ranking.insert(PIN - 1, ranking.pop(place))
    return ranking


def max_similarity(
    query: NDArray[np.float32],
    weights: NDArray[np.float64],
    tokens: list[NDArray[np.uint16]],
    table: tuple[NDArray[np.uint16], NDArray[np.float32]],
) -> NDArray[np.float64]:
    """Return, for each passage, the weighted mean of each query token's best cosine in it.

    `query` holds the query tokens' unit vectors (q x dims), `weights` their weights, `tokens`
    each passage's token ids, `table` the sorted ids that occur and their unit vectors.
    """
    ids, rows = table
    total = float(weights.sum())
    if not total or not len(ids):
        return np.zeros(len(tokens))
    similar = query @ rows.T
    lengths = np.array([len(row) for row in tokens])
    out = np.zeros(len(tokens))
    filled = np.flatnonzero(lengths)
    if not len(filled):
        return out
    flat = np.searchsorted(ids, np.concatenate([tokens[index] for index in filled]))
    starts = np.concatenate([[0], np.cumsum(lengths[filled])[:-1]])
    best = np.maximum.reduceat(similar[:, flat], starts, axis=1)
    out[filled] = (weights[:, None] * best).sum(axis=0) / total
    return out


def _by_maximum(values: NDArray[np.float64]) -> NDArray[np.float64]:
    top = values.max(initial=0.0)
    return values / top if top > 0 else values


def _min_max(values: NDArray[np.float64]) -> NDArray[np.float64]:
    if not len(values):
        return values
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.zeros_like(values)
