"""Texts as bags of token ids: ragged arrays, their means and the way back."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

# Training runs in float32, the gradient checks in float64: both must pass through.
Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]


class Bags(NamedTuple):
    """Token ids of many texts, end to end.

    `ids` has shape (tokens,); text k owns `ids[starts[k]:starts[k + 1]]`, so
    `starts` has shape (texts + 1,).
    """

    ids: Ints
    starts: Ints

    @classmethod
    def pack(cls, texts: Sequence[Sequence[int]]) -> Self:
        """Lay the id lists of `texts` end to end."""
        lengths = [len(text) for text in texts]
        flat = [token for text in texts for token in text]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return cls(np.array(flat, dtype=np.int64), starts.astype(np.int64))

    @property
    def size(self) -> int:
        """Number of texts."""
        return len(self.starts) - 1

    @property
    def lengths(self) -> Ints:
        """Tokens per text, shape (texts,)."""
        return np.diff(self.starts)

    @property
    def owners(self) -> Ints:
        """Index of the text of each token, shape (tokens,)."""
        return np.repeat(np.arange(self.size), self.lengths)

    def take(self, rows: Ints, limit: int | None = None) -> "Bags":
        """Pick the texts `rows` in that order, each cut to `limit` tokens."""
        lengths = self.lengths[rows]
        if limit is not None:
            lengths = np.minimum(lengths, limit)
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        shift = np.repeat(self.starts[rows] - starts[:-1], lengths)
        return Bags(self.ids[np.arange(starts[-1]) + shift], starts)


def mean(bags: Bags, table: Floats) -> Floats:
    """Mean of the token rows of each text, shape (texts, dims); zero if empty."""
    out = np.zeros((bags.size, table.shape[1]), dtype=table.dtype)
    lengths = bags.lengths
    # reduceat gives an empty segment its neighbour's first row: leave those out.
    full = np.flatnonzero(lengths)
    if len(full):
        sums = np.add.reduceat(table[bags.ids], bags.starts[full], axis=0)
        out[full] = sums / lengths[full, None].astype(table.dtype)
    return out


def chunks(count: int, size: int = 4096) -> Iterator[Ints]:
    """Row numbers 0..count in runs of `size`, to bound the memory of a gather."""
    for start in range(0, count, size):
        yield np.arange(start, min(start + size, count))


def accumulate(target: Floats, ids: Ints, rows: Floats, owners: Ints) -> None:
    """Add `rows[owners[k]]` to `target[ids[k]]` for every k, in place.

    The same as `np.add.at`, which walks element by element: sorting the ids and
    summing runs is many times faster for wide rows.
    """
    if not len(ids):
        return
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    target[ordered[first]] += np.add.reduceat(rows[owners[order]], first, axis=0)


def spread(target: Floats, bags: Bags, gradient: Floats) -> None:
    """Backward of `mean`: add the (texts, dims) `gradient` to its tokens' rows."""
    lengths = np.maximum(bags.lengths, 1)[:, None].astype(gradient.dtype)
    accumulate(target, bags.ids, gradient / lengths, bags.owners)
