"""A graph over the vector rows (HNSW), for a process that keeps its index open. Derived.

Each generation is a new file, since a mapped one is never written to. Native code trusts what it
maps: only the file that was written here is opened, by its inode, change time and digest. Equal
rows are stored once: many of them would hide all other rows.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memfs import files
from memfs.core.errors import StoppedError
from memfs.files import atomic, signatures
from memfs.search import exact_search
from memfs.search.active_model import GRAPH

if TYPE_CHECKING:
    from usearch.index import Index

FEWEST = 20_000  # rows; an exact scan of fewer is as fast
_GROWN = 0.1  # share of new rows that are scanned; more are added to the graph
# Measured on 100,000 passages, against the exact scan of the same int8 rows: looking at 64, 0.91
# of the nearest 64 are found, and fused with words 0.995 of the same ten hits (200: 0.997). Rows
# with few neighbours are lost most: for a search by meaning alone a graph is not enough, even with
# 400. Half precision takes 1.6 times the space and finds no more.
_CONNECTIVITY, _EXPANSION = 16, 128
_LEAST_EXPANSION, _ROOT = 64, 5  # a fifth of the root of the rows: 64 of 100,000, 200 of a million
_BATCH = 1_000  # rows added between two ticks: under a second on a busy machine
_MOST_EQUAL = 100  # of equal rows that are found together
_LONGEST = 4096  # bytes of a stamp
_NAME, _SUFFIX = "graph", ".usearch"
_WORD = 8  # bytes that are hashed together
_MIX = np.array([pow(6364136223846793005, power, 1 << 64) for power in range(1, 129)], np.uint64)


@dataclass(frozen=True)
class GraphStamp:
    """What a graph was built from: the model, the first `rows` rows and their checksum.

    `name`, `file` (see `signatures.sign_exactly`) and `digest` describe its file.
    """

    model: str
    rows: int
    content: int
    name: str = ""
    file: str = ""
    digest: str = ""


class HnswGraph:
    """A graph over the first `len(rows)` rows of an index. Safe for searches from many threads."""

    def __init__(self, index: Index, equal: EqualRows, file: memoryview | None = None) -> None:
        self.index = index
        self.file = file  # what the index maps, if it is not in memory
        self.rows = len(equal.order)
        self._equal = equal
        looked_at = max(_LEAST_EXPANSION, math.isqrt(self.rows) // _ROOT)
        index.expansion_search = looked_at  # type: ignore[misc]  # it can be set
        self._lock = threading.Lock()  # usearch gives searches of one thread the same buffers

    def find_nearest(
        self, rows: NDArray[np.int8], query: NDArray[np.int8], limit: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return about the nearest of all `rows`, also newer ones, and their distances."""
        with self._lock:
            found = self.index.search(query, limit, threads=1)
        numbers, distances = self._equal.expand_equal(found.keys.astype(np.int64), found.distances)
        if len(rows) == self.rows:
            return numbers[:limit], distances[:limit]
        more, farther = exact_search.find_nearest(rows[self.rows :], query, limit)
        numbers = np.concatenate([numbers, more + self.rows])
        distances = np.concatenate([distances, farther])
        best = exact_search.smallest(distances, limit)
        return numbers[best], distances[best]


class EqualRows:
    """Groups of equal rows: the graph holds only the first row of each."""

    def __init__(self, rows: NDArray[np.int8]) -> None:
        hashes = _hash_rows(rows)
        self.checksum = zlib.crc32(hashes.tobytes())
        self.order = np.argsort(hashes, kind="stable").astype(np.uint32)
        ordered = hashes[self.order]
        begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        ends = np.append(begins[1:], len(ordered))
        self._firsts = np.sort(self.order[begins])
        many = ends - begins > 1
        repeated = np.argsort(self.order[begins[many]])
        # first rows with equals, sorted; int64 as keys are, to save a conversion in each search
        self._rows = self.order[begins[many]][repeated].astype(np.int64)
        self._spans = begins[many][repeated], ends[many][repeated]  # of their equals in `order`
        self._many = np.zeros(len(rows), np.bool_)
        self._many[self._rows] = True

    def list_first_rows(self, start: int) -> NDArray[np.uint32]:
        return self._firsts[np.searchsorted(self._firsts, start) :]

    def expand_equal(
        self, keys: NDArray[np.int64], distances: NDArray[np.float32]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Insert its equal rows beside each row: at most the `_MOST_EQUAL` latest."""
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
    """Open or build the graph of `rows` in `folder`; None: scan the rows instead.

    A graph is rebuilt when many rows are newer than it; with `build=False` the one on disk is used.
    `tick` is called with the number of added rows: a million take some minutes of all cores. If it
    raises `StoppedError`, what was added is saved, and the next call continues there.
    """
    if len(rows) < FEWEST or rows.shape[1] % _WORD:
        return None
    found = _load(folder, model, rows)
    if not build or (found and len(rows) - found.rows <= max(FEWEST, _GROWN * len(rows))):
        return found
    return _build(folder, model, rows, found, tick)


def _load(folder: str, model: str, rows: NDArray[np.int8]) -> HnswGraph | None:
    stamp = _read_stamp(folder)
    if stamp is None or stamp.model != model or not 0 < stamp.rows <= len(rows):
        return None
    try:
        mapped = _map_file(f"{folder}/{stamp.name}", stamp.file)
    except (OSError, ValueError):  # missing, empty, or another file
        return None
    if _compute_digest(mapped) != stamp.digest:
        return None
    equal = EqualRows(rows[: stamp.rows])
    return _open_view(mapped, equal) if equal.checksum == stamp.content else None


def _open_view(mapped: memoryview, equal: EqualRows) -> HnswGraph:
    index = _create_index()
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
    index = _create_index(rows.shape[1])
    if base is not None:
        index.load(base.file)
    fresh = equal.list_first_rows(base.rows if base else 0)
    for start in range(0, len(fresh), _BATCH):
        keys = fresh[start : start + _BATCH]
        vectors = rows[keys]
        some = vectors.any(axis=1)  # a row of zeros is near to nothing
        if some.any():
            index.add(keys[some].astype(np.uint64), vectors[some])
        try:
            if tick:
                tick(len(keys))
        except StoppedError:
            left = fresh[start + _BATCH :]
            part = rows[: left[0]] if len(left) else rows  # the next call continues behind it
            with suppress(OSError, ValueError, RuntimeError):  # full disk: the next one begins anew
                _save(folder, GraphStamp(model, len(part), EqualRows(part).checksum), index)
            raise
    try:
        mapped = _save(folder, GraphStamp(model, len(rows), equal.checksum), index)
    except (OSError, ValueError, RuntimeError):  # full disk, missing folder: it stays in memory
        return HnswGraph(index, equal)
    return _open_view(mapped, equal)


def _save(folder: str, stamp: GraphStamp, index: Index) -> memoryview:
    """Write a new generation, then the stamp that names it, then remove the old ones."""
    name = f"{_NAME}-{stamp.rows}-{os.urandom(6).hex()}{_SUFFIX}"
    temporary = f"{folder}/{name}.tmp"
    try:
        index.save(temporary)
        handle, _ = files.open_file(temporary, os.O_RDWR)
        try:
            if hasattr(os, "fchmod"):
                os.fchmod(handle, 0o600)  # before signing: it changes the time of the last change
            os.fsync(handle)
            mapped = memoryview(mmap.mmap(handle, 0, access=mmap.ACCESS_READ))
            atomic.rename(temporary, f"{folder}/{name}")
            file = signatures.sign_exactly(os.fstat(handle))  # a rename changes it, too
        finally:
            os.close(handle)
    except BaseException:
        with suppress(OSError):
            files.remove(temporary)
        raise
    found = GraphStamp(stamp.model, stamp.rows, stamp.content, name, file, _compute_digest(mapped))
    atomic.write_derived(f"{folder}/{GRAPH}", json.dumps(asdict(found)).encode(), durable=True)
    for old in files.names(folder):
        if old.startswith(f"{_NAME}-") and old != name:
            with suppress(OSError):  # Windows keeps mapped files: the next generation removes it
                files.remove(f"{folder}/{old}")
    return mapped


def _read_stamp(folder: str) -> GraphStamp | None:
    try:
        found = GraphStamp(**json.loads(files.read(f"{folder}/{GRAPH}", cap=_LONGEST) or ""))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    plain = type(found.rows) is int and isinstance(found.name, str)
    return found if plain and "/" not in found.name and "\\" not in found.name else None


def _map_file(path: str, file: str) -> memoryview:
    """Map the file with this identity; raises `OSError`, or `ValueError` for any other file."""
    handle, status = files.open_file(path)
    try:
        if signatures.sign_exactly(status) != file:
            raise ValueError("another program has changed the file")
        return memoryview(mmap.mmap(handle, 0, access=mmap.ACCESS_READ))
    finally:
        os.close(handle)


def _compute_digest(data: memoryview) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _create_index(dims: int = 0) -> Index:
    from usearch.index import Index  # small stores have no graph

    return Index(
        ndim=dims,
        metric="cos",
        dtype="i8",
        connectivity=_CONNECTIVITY,
        expansion_add=_EXPANSION,
        enable_key_lookups=False,
    )


def _hash_rows(rows: NDArray[np.int8]) -> NDArray[np.uint64]:
    words = np.ascontiguousarray(rows).view(np.uint64)
    found = np.zeros(len(rows), np.uint64)
    for start in range(0, len(rows), 1 << 14):
        mixed = words[start : start + (1 << 14)]
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _MIX[: words.shape[1]]
        found[start : start + (1 << 14)] = (mixed ^ (mixed >> np.uint64(32))).sum(axis=1)
    return found
