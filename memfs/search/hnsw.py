"""A graph over the vector rows (HNSW), for a process that keeps its index open. Derived.

A cold process is done with an exact scan before a graph is loaded. The graph is a file of its own
name for each generation, written aside and renamed: nobody's mapped file is ever written to.
`graph.json`, written last, names it and what it was made of. Native code believes what it maps, so
only the very file that was written here is opened: its inode and the time of its last change, which
who commits or packs one can neither know nor set, and its digest tell. Equal rows are in it once:
many of them would be each other's only neighbours, and nothing else be found from there.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import threading
import zlib
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from memfs import files
from memfs.files import atomic, signatures
from memfs.search import exact_search
from memfs.search.active_model import GRAPH

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from usearch.index import Index

FEWEST = 20_000  # rows; fewer are scanned exactly as quickly
_GROWN = 0.1  # of the rows: if more are new, they are added, until then scanned beside the graph
# Measured on 100,000 passages, against the exact scan of the same int8 rows: looking at 64, 0.91 of
# the nearest 64 are found, and fused with words 0.995 of the same ten hits (with 200: 0.997). What
# few others are near to is lost most: where meaning alone counts, a graph is not enough, with 400
# neither. Half precision takes 1.6 times the space for no more.
_CONNECTIVITY, _EXPANSION = 16, 128
_FEWEST_LOOKED_AT, _ROOT = 64, 5  # a fifth of the root of the rows: 64 of 100,000, 200 of a million
_BATCH = 10_000  # rows added between two ticks
_MOST_EQUAL = 100  # of equal rows that are found together
_LONGEST = 4096  # bytes of a stamp
_NAME, _SUFFIX = "graph", ".usearch"
_WORD = 8  # bytes that are hashed together
_MIX = np.array([pow(6364136223846793005, power, 1 << 64) for power in range(1, 129)], np.uint64)


@dataclass(frozen=True)
class GraphStamp:
    """What a graph was made of: the model, the first `rows` rows and a checksum of them.

    `name`, `file` (see `atomic.look`) and `digest` are those of its file.
    """

    model: str
    rows: int
    content: int
    name: str = ""
    file: str = ""
    digest: str = ""


class HnswGraph:
    """A graph over the first `len(rows)` rows of an index. Any number of threads may search."""

    def __init__(self, index: Index, equal: EqualRows, file: memoryview | None = None) -> None:
        self.index = index
        self.file = file  # what the index looks at, if it is not in memory
        self.rows = len(equal.order)
        self._equal = equal
        looked_at = max(_FEWEST_LOOKED_AT, math.isqrt(self.rows) // _ROOT)
        index.expansion_search = looked_at  # type: ignore[misc]  # it can be set
        self._lock = threading.Lock()  # usearch gives searches of one thread the same buffers

    def nearest(
        self, rows: NDArray[np.int8], query: NDArray[np.int8], limit: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the nearest of all `rows` and their distances, as `exact_search` does, not all.

        Those that came after the graph was made are scanned.
        """
        with self._lock:
            found = self.index.search(query, limit, threads=1)
        numbers, distances = self._equal.spread(found.keys.astype(np.int64), found.distances)
        if len(rows) == self.rows:
            return numbers[:limit], distances[:limit]
        more, farther = exact_search.nearest(rows[self.rows :], query, limit)
        numbers = np.concatenate([numbers, more + self.rows])
        distances = np.concatenate([distances, farther])
        kept = exact_search.smallest(distances, limit)
        return numbers[kept], distances[kept]


class EqualRows:
    """Which rows are equal: the graph knows the first of them only."""

    def __init__(self, rows: NDArray[np.int8]) -> None:
        hashes = _hashes(rows)
        self.checksum = zlib.crc32(hashes.tobytes())
        self.order = np.argsort(hashes, kind="stable").astype(np.uint32)
        ordered = hashes[self.order]
        begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        ends = np.append(begins[1:], len(ordered))
        self._firsts = np.sort(self.order[begins])
        many = ends - begins > 1
        repeated = np.argsort(self.order[begins[many]])
        # that others equal, in their order; as keys are, or each search would make them so
        self._rows = self.order[begins[many]][repeated].astype(np.int64)
        self._spans = begins[many][repeated], ends[many][repeated]  # where those are
        self._many = np.zeros(len(rows), np.bool_)
        self._many[self._rows] = True

    def firsts(self, start: int) -> NDArray[np.uint32]:
        """Return the rows from `start` on that equal none before them."""
        return self._firsts[np.searchsorted(self._firsts, start) :]

    def spread(
        self, keys: NDArray[np.int64], distances: NDArray[np.float32]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Put its equals beside each row; of very many, the latest."""
        far = distances.astype(np.float64)
        many = np.flatnonzero(self._many.take(keys, mode="clip"))
        if not len(many):
            return keys, far
        found, distant = keys.tolist(), far.tolist()
        places = np.searchsorted(self._rows, keys[many]).tolist()
        for at, place in zip(reversed(many.tolist()), reversed(places), strict=True):
            begin, end = (int(side[place]) for side in self._spans)
            equal = self.order[max(begin, end - _MOST_EQUAL) : end].tolist()
            found[at : at + 1] = equal
            distant[at : at + 1] = [distant[at]] * len(equal)
        return np.array(found, np.int64), np.array(distant)


def open_graph(
    folder: str,
    model: str,
    rows: NDArray[np.int8],
    *,
    build: bool = True,
    tick: Callable[[int], object] | None = None,
) -> HnswGraph | None:
    """Return the graph of `rows` that is kept in `folder`, or make it; None: scan them instead.

    One that many rows came after is made anew with them (`build=False` makes none, and takes what
    there is). `tick` is told of rows that went in: a million take some minutes of all cores.
    """
    if len(rows) < FEWEST or rows.shape[1] % _WORD:
        return None
    found = _load(folder, model, rows)
    if not build or (found and len(rows) - found.rows <= max(FEWEST, _GROWN * len(rows))):
        return found
    return _build(folder, model, rows, found, tick)


def _load(folder: str, model: str, rows: NDArray[np.int8]) -> HnswGraph | None:
    stamp = _read(folder)
    if stamp is None or stamp.model != model or not 0 < stamp.rows <= len(rows):
        return None
    try:
        mapped = _mapped(f"{folder}/{stamp.name}", stamp.file)
    except (OSError, ValueError):  # gone, empty, or another one
        return None
    if _digest(mapped) != stamp.digest:
        return None
    equal = EqualRows(rows[: stamp.rows])
    return _view(mapped, equal) if equal.checksum == stamp.content else None


def _view(mapped: memoryview, equal: EqualRows) -> HnswGraph:
    index = _empty()
    index.view(mapped)
    return HnswGraph(index, equal, mapped)


def _build(
    folder: str,
    model: str,
    rows: NDArray[np.int8],
    base: HnswGraph | None,
    tick: Callable[[int], object] | None,
) -> HnswGraph:
    equal = EqualRows(rows)
    index = _empty(rows.shape[1])
    if base is not None:
        index.load(base.file)
    fresh = equal.firsts(base.rows if base else 0)
    for start in range(0, len(fresh), _BATCH):
        keys = fresh[start : start + _BATCH]
        vectors = rows[keys]
        some = vectors.any(axis=1)  # a row of zeros is near to nothing
        if some.any():
            index.add(keys[some].astype(np.uint64), vectors[some])
        if tick:
            tick(len(keys))
    try:
        mapped = _save(folder, GraphStamp(model, len(rows), equal.checksum), index)
    except (OSError, ValueError, RuntimeError):  # a full disk, a folder that is gone: only not kept
        return HnswGraph(index, equal)
    return _view(mapped, equal)


def _save(folder: str, stamp: GraphStamp, index: Index) -> memoryview:
    """Write a new generation, then the stamp that names it, then remove the old ones."""
    name = f"{_NAME}-{stamp.rows}-{os.urandom(6).hex()}{_SUFFIX}"
    temporary = f"{folder}/{name}.tmp"
    try:
        index.save(temporary)
        handle, _ = files.open_file(temporary, os.O_RDWR)
        try:
            if hasattr(os, "fchmod"):
                os.fchmod(handle, 0o600)  # now: the time of the last change is in the stamp
            os.fsync(handle)
            mapped = memoryview(mmap.mmap(handle, 0, access=mmap.ACCESS_READ))
            atomic.rename(temporary, f"{folder}/{name}")
            file = signatures.sign_exactly(os.fstat(handle))  # also a rename is a change
        finally:
            os.close(handle)
    except BaseException:
        with suppress(OSError):
            files.remove(temporary)
        raise
    found = GraphStamp(stamp.model, stamp.rows, stamp.content, name, file, _digest(mapped))
    atomic.write_derived(f"{folder}/{GRAPH}", json.dumps(asdict(found)).encode(), durable=True)
    for old in files.names(folder):
        if old.startswith(f"{_NAME}-") and old != name:
            with suppress(OSError):  # Windows keeps what is mapped: the next generation removes it
                files.remove(f"{folder}/{old}")
    return mapped


def _read(folder: str) -> GraphStamp | None:
    try:
        found = GraphStamp(**json.loads(files.read(f"{folder}/{GRAPH}", cap=_LONGEST) or ""))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    plain = type(found.rows) is int and isinstance(found.name, str)
    return found if plain and "/" not in found.name and "\\" not in found.name else None


def _mapped(path: str, file: str) -> memoryview:
    """Map a file that has this identity; raises `OSError`, `ValueError` for any other."""
    handle, status = files.open_file(path)
    try:
        if signatures.sign_exactly(status) != file:
            raise ValueError("it is not the file that was written here")
        return memoryview(mmap.mmap(handle, 0, access=mmap.ACCESS_READ))
    finally:
        os.close(handle)


def _digest(data: memoryview) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _empty(dims: int = 0) -> Index:
    from usearch.index import Index  # a small memory has no graph

    return Index(
        ndim=dims,
        metric="cos",
        dtype="i8",
        connectivity=_CONNECTIVITY,
        expansion_add=_EXPANSION,
        enable_key_lookups=False,
    )


def _hashes(rows: NDArray[np.int8]) -> NDArray[np.uint64]:
    """Return a number for each row: of unequal rows it is another one."""
    words = np.ascontiguousarray(rows).view(np.uint64)
    found = np.zeros(len(rows), np.uint64)
    for start in range(0, len(rows), 1 << 14):
        mixed = words[start : start + (1 << 14)]
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _MIX[: words.shape[1]]
        found[start : start + (1 << 14)] = (mixed ^ (mixed >> np.uint64(32))).sum(axis=1)
    return found
