"""The vector index: int8 rows, one for each window of a text, in append-only files.

`rows.json`, written last and atomically, holds how many rows count: a reader sees old or new.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from memfs import files
from memfs.files import atomic, logs, trees
from memfs.search import exact_search, vector_layout
from memfs.search.vector_layout import (
    AFTER,
    AT,
    BEFORE,
    COLUMNS,
    DOCUMENTS,
    FIRST,
    GROUP,
    OWNERS,
    SAID,
    VECTORS,
    WEIGHT,
    Extent,
)

if TYPE_CHECKING:
    from memfs.search.encoder import Encoder, TokenIds
    from memfs.search.hnsw import HnswGraph

Number = TypeVar("Number", np.float32, np.float64)

_ENDS = "ends.u64"  # where the tokens of each row end
WINDOW = 150  # words
OVERLAP = 30

_LATEST = (1 << 32) - 1  # seconds; the year 2106
_BATCH = 256  # documents encoded at a time
_TAIL = 4096  # documents: among so many the last turn of a running session is found
_SPARE = 1.3  # rows to search for each document wanted
_ENOUGH = 0.75  # of the documents wanted
_USUAL = 100  # percent


class Document(NamedTuple):
    """A document to embed, with the fields that ranking needs.

    `group` is equal for the turns of a session, 0: none. `said` is equal for duplicates (see
    `doc_json`), `at` seconds since 1970, `weight` percent.
    """

    number: int
    group: int
    text: str
    said: int = 0
    at: int = 0
    weight: int = _USUAL


class VectorIndex:
    """The rows of a model for all documents, ordered by document number."""

    def __init__(self, folder: str, encoder: Encoder) -> None:
        self._root, self._folder = folder, vector_layout.path(folder, encoder.name)
        self._tokens_file = f"tokens.u{8 * np.dtype(encoder.ids).itemsize}"
        self.encoder = encoder
        found = vector_layout.load_extent(folder, encoder.name)
        found.source = encoder.folder
        self.extent = found if self._is_complete(found) else self._make_empty_extent()
        self.graph: HnswGraph | None = None
        self._latest: dict[int, int] = {}  # the last document of each group, during `extend`
        self._after: dict[int, int] = {}  # new values of the AFTER column, by document
        self._map()

    def warm(self, *, build: bool = True, tick: Callable[[int], object] | None = None) -> None:
        """Prepare for many searches: open the graph of the rows, or build it (see `hnsw`)."""
        from memfs.search import hnsw  # not for a single search

        path, model = self._folder, self.encoder.name
        self.graph = hnsw.open_graph(path, model, self.vectors, build=build, tick=tick)

    def reopen(self) -> VectorIndex:
        """Return the index with the rows added since; its graph is kept if rows were only added."""
        made = VectorIndex(self._root, self.encoder)
        if made._file == self._file is not None and made.extent.rows >= self.extent.rows:
            made.graph = self.graph
        return made

    def extend(self, documents: Iterator[Document], end: int) -> None:
        """Add the windows of documents in ascending order; `end` is one past the last number."""
        if not self.extent.rows:  # readers may map old files: remove them, do not truncate
            self.clear()
        files.make_folder(self._folder, private=True, durable=False)
        sizes = self._list_sizes(self.extent)
        opened = [logs.open_appending(self._path(name)) for name in sizes]
        self._latest, self._after = self._find_latest(), {}
        try:
            for file, size in zip(opened, sizes.values(), strict=True):
                file.truncate(size)  # a killed run may have appended more
            for batch in _batches(documents):
                self._append(opened, batch)
            rest = self._build_records(end, np.zeros(0, np.uint32), [])  # without text: no rows
            opened[4].write(rest.tobytes())
            for file in opened:
                file.flush()
                os.fsync(file.fileno())
            vector_layout.write(self._path(DOCUMENTS), AFTER, self._after)
        finally:
            for file in opened:
                file.close()
        self.extent.documents = end
        data = io.BytesIO()
        np.save(data, self.frequencies)
        atomic.write_derived(self._path("frequencies.npy"), data.getvalue())
        extent = self.extent.to_json().encode()
        atomic.write_derived(self._path(vector_layout.ROWS), extent, durable=True)
        self._map()

    def clear(self) -> None:
        trees.remove(self._folder)
        self.extent = self._make_empty_extent()
        self.graph = None
        self._map()

    def find_nearest(
        self,
        query: NDArray[np.int8],
        limit: int,
        allowed: NDArray[np.int64] | None = None,
        *,
        exact: bool = False,
    ) -> NDArray[np.int64]:
        """Return the numbers of the documents nearest to a vector, the best first.

        Deleted documents are left out. About `limit` are found, however many windows the nearest
        documents have. `exact`: scan all rows, without the graph (see `hnsw`).
        """
        vectors, owners = self.vectors, self.owners
        if allowed is not None:
            keep = flatten_ranges(*self.get_row_ranges(allowed))
            vectors, owners = vectors[keep], owners[keep]
        if not len(vectors) or not query.any():
            return np.zeros(0, np.int64)
        graph = None if exact or allowed is not None else self.graph
        windows = len(self.owners) / max(1, self.extent.documents)  # per document
        depth = min(len(vectors), math.ceil(limit * _SPARE * max(1.0, windows)))
        while True:
            if graph is None:
                found, _ = exact_search.find_nearest(vectors, query, depth)
            else:
                found, _ = graph.find_nearest(vectors, query, depth)
            numbers = drop_repeats(owners[found].astype(np.int64))
            numbers = numbers[self.get_records(numbers)[:, WEIGHT] > 0]
            if len(numbers) >= limit * _ENOUGH or depth == len(vectors):
                return numbers[:limit]
            depth = min(len(vectors), depth * 4)

    def get_records(self, numbers: NDArray[np.int64]) -> NDArray[np.uint32]:
        """Return the records of documents (see `vector_layout`), 0 for an unknown document."""
        count = self.extent.documents
        found = self.documents.take(numbers, 0, mode="clip")  # a copy, and fast
        if numbers.max(initial=0) >= count:
            unknown = numbers >= count
            found[unknown] = 0
            found[unknown, FIRST] = self.extent.rows
        return np.asarray(found, np.uint32)

    def get_row_ranges(
        self, numbers: NDArray[np.int64], records: NDArray[np.uint32] | None = None
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        records = self.get_records(numbers) if records is None else records
        first = records[..., FIRST].astype(np.intp)
        return first, self.get_records(numbers + 1)[..., FIRST] - first

    def get_cosines(self, query: NDArray[np.int8], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        return 1.0 - exact_search.distances(self.vectors.take(rows, 0, mode="clip"), query)

    def build_scorer(self, query: NDArray[np.int8]) -> Callable[[list[int]], list[float]]:
        """Return a function that returns the cosines of documents to a vector, by number."""

        def score(numbers: list[int]) -> list[float]:
            documents = np.array(numbers, np.int64)
            first, counts = self.get_row_ranges(documents)
            found = most(self.get_cosines(query, flatten_ranges(first, counts)), counts)
            return [float(each) for each in found]

        return score

    def find_neighbours(
        self, numbers: NDArray[np.int64], most: int, records: NDArray[np.uint32] | None = None
    ) -> NDArray[np.int64]:
        """Return the neighbours of each document in its group: `most` before, `most` after.

        n x 2 most: those before it, the nearest first, then those after it; 0 for none. `records`
        are those of the documents (see `get_records`).
        """
        found = np.zeros((len(numbers), 2, most), np.int64)
        records = self.get_records(numbers) if records is None else records
        group = records[:, None, GROUP]  # a document without a group has no neighbours
        beside = records[:, BEFORE:].astype(np.int64)
        for step in range(most):
            records = self.get_records(beside)
            there = (records[..., GROUP] == group) & (records[..., WEIGHT] > 0)  # written, not gone
            beside *= there
            found[:, :, step] = beside
            if step + 1 < most:
                beside[:, 0], beside[:, 1] = records[:, 0, BEFORE], records[:, 1, AFTER]
                beside *= there
        return found.reshape(len(numbers), 2 * most)

    def weigh_tokens(self, tokens: TokenIds) -> NDArray[np.float32]:
        """Return the weight of each token of a question: its norm times its idf; the sum is 1."""
        count = max(1, self.extent.rows)
        idf = np.log(1 + count / (1 + self.frequencies[tokens].astype(np.float64)))
        found = self.encoder.compute_norms(tokens).astype(np.float64) * idf
        return np.asarray(found / max(float(found.sum()), 1e-9), np.float32)

    def get_tokens(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], TokenIds]:
        """Return the number of tokens in each row, and the ids of all, row by row."""
        begins = np.where(rows > 0, self.ends[rows - 1], 0).astype(np.intp)
        counts = self.ends[rows].astype(np.intp) - begins
        return counts, np.take(self.tokens, flatten_ranges(begins, counts), mode="clip")

    def _map(self) -> None:
        extent, dims = self.extent, self.encoder.dims
        status = files.status(self._path(VECTORS))  # before mapping: a mapped file keeps its inode
        self._file = (status.st_dev, status.st_ino) if status else None
        vectors = self._map_array(VECTORS, np.int8, extent.rows * dims)
        self.vectors = np.asarray(vectors, np.int8).reshape(-1, dims)
        self.owners = self._map_array(OWNERS, np.uint32, extent.rows)
        self.tokens = self._map_array(self._tokens_file, self.encoder.ids, extent.tokens)
        self.ends = self._map_array(_ENDS, np.uint64, extent.rows)
        count = extent.documents
        documents = self._map_array(DOCUMENTS, np.uint32, count * COLUMNS)
        none = np.zeros(COLUMNS, np.uint32)  # a row to take where there are none
        self.documents = (documents if count else none).reshape(-1, COLUMNS)
        self.frequencies = self._load_frequencies()

    def _load_frequencies(self) -> NDArray[np.uint32]:
        """Return the frequency of each token; counted again if the file is missing or damaged."""
        size = self.encoder.size
        try:
            with logs.open_stream(self._path("frequencies.npy")) as handle:
                found = np.load(handle)
        except (OSError, ValueError, EOFError):
            found = None
        if isinstance(found, np.ndarray) and found.shape == (size,) and self.extent.rows:
            return found.astype(np.uint32)
        return np.bincount(self.tokens, minlength=size).astype(np.uint32)

    def _map_array(self, name: str, kind: type, count: int) -> NDArray[np.generic]:
        if not count:
            return np.zeros(0, kind)
        size = count * np.dtype(kind).itemsize
        return np.frombuffer(vector_layout.map_file(self._path(name), size), kind)

    def _append(self, opened: list, batch: list[Document]) -> None:  # type: ignore[type-arg]
        pieces = [(number, piece) for number, _, text, *_ in batch for piece in split_windows(text)]
        encoded = self.encoder.encode([piece for _, piece in pieces])
        lengths = np.array([len(row) for row in encoded.tokens], np.uint64)
        ids = self.encoder.ids
        tokens = np.concatenate(encoded.tokens) if encoded.tokens else np.zeros(0, ids)
        ends = self.extent.tokens + np.cumsum(lengths, dtype=np.uint64)
        owners = np.array([number for number, _ in pieces], np.uint32)
        records = self._build_records(batch[-1].number + 1, owners, batch)
        opened[0].write(np.rint(encoded.vectors * vector_layout.LARGEST).astype(np.int8).tobytes())
        opened[1].write(owners.tobytes())
        opened[2].write(tokens.astype(ids).tobytes())
        opened[3].write(ends.astype(np.uint64).tobytes())
        opened[4].write(records.tobytes())
        counts = np.bincount(tokens, minlength=len(self.frequencies))
        self.frequencies = self.frequencies + counts.astype(np.uint32)
        self.extent.documents += len(records)
        self.extent.rows += len(pieces)
        self.extent.tokens += len(tokens)

    def _build_records(
        self, end: int, owners: NDArray[np.uint32], batch: list[Document]
    ) -> NDArray[np.uint32]:
        """Return the records of the new documents up to `end`, those of `batch` among them."""
        begin = self.extent.documents
        records = np.zeros((max(0, end - begin), COLUMNS), np.uint32)
        records[:, FIRST] = self.extent.rows + np.searchsorted(owners, np.arange(begin, end))
        for document in batch:
            record = records[document.number - begin]
            record[GROUP], record[SAID] = document.group, document.said
            record[AT] = max(0, min(_LATEST, document.at))
            record[WEIGHT] = document.weight or _USUAL
            if document.group:
                before = self._latest.get(document.group, 0)
                record[BEFORE] = before
                if before and before >= begin:
                    records[before - begin, AFTER] = document.number
                elif before:  # its record is already in the file
                    self._after[before] = document.number
                self._latest[document.group] = document.number
        return records

    def _find_latest(self) -> dict[int, int]:
        count = self.extent.documents
        groups = self.documents[max(0, count - _TAIL) : count, GROUP].tolist()
        first = count - len(groups)
        return {group: number for number, group in enumerate(groups, first) if group}

    def _list_sizes(self, extent: Extent) -> dict[str, int]:
        return {
            VECTORS: extent.rows * self.encoder.dims,
            OWNERS: extent.rows * 4,
            self._tokens_file: extent.tokens * np.dtype(self.encoder.ids).itemsize,
            _ENDS: extent.rows * 8,
            DOCUMENTS: extent.documents * 4 * COLUMNS,
        }

    def _make_empty_extent(self) -> Extent:
        return Extent(self.encoder.name, source=self.encoder.folder)

    def _is_complete(self, extent: Extent) -> bool:
        needed = self._list_sizes(extent).items()
        try:
            return all(files.get_size(self._path(name)) >= size for name, size in needed)
        except OSError:
            return not extent.rows

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}"


def flatten_ranges(first: NDArray[np.intp], counts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the numbers of all ranges in one array: `counts` numbers from `first` on."""
    if counts.min(initial=1) == counts.max(initial=1) == 1:  # most texts are short
        return first
    ends = counts.cumsum()
    found: NDArray[np.intp] = (first - ends + counts).repeat(counts)
    found += np.arange(len(found))
    return found


def most(values: NDArray[Number], counts: NDArray[np.intp]) -> NDArray[Number]:
    """Return the maximum of each owner's values, 0 for none; `counts` are group sizes."""
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


def drop_repeats(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct numbers in order of their first occurrence."""
    return np.array(list(dict.fromkeys(numbers.tolist())), np.int64)


def _batches(documents: Iterator[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    for document in documents:
        batch.append(document)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def split_windows(text: str) -> list[str]:
    """Cut a text into windows of `WINDOW` words that share `OVERLAP` words; one at least."""
    words = text.split()
    if len(words) <= WINDOW:
        return [text]
    starts = range(0, max(1, len(words) - OVERLAP), WINDOW - OVERLAP)
    return [" ".join(words[start : start + WINDOW]) for start in starts]
