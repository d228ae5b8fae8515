"""The vector index: int8 rows in append-only files.

A document has one row for each window of its text. Row files only grow; `rows.json`, written last
and atomically, says how much of them counts, so a reader sees the old or the new, never half. A
cold process scans them exactly; one that was told to get warm looks into a graph.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from memfs.search import scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from memfs.search.encoder import Encoder
    from memfs.search.graph import Graph

FOLDER = "v2/vectors"
WINDOW = 150  # words
OVERLAP = 30
_BATCH = 256  # documents encoded at a time
_REACH = 8  # documents of other groups that may lie between neighbours


class Document(NamedTuple):
    """What gets vectors. `group` ties a conversation's turns together, 0: it stands alone."""

    number: int
    group: int
    text: str


@dataclass
class Extent:
    """How much of the files counts, and which model made it. `documents` is one past the last."""

    model: str
    rows: int = 0
    tokens: int = 0
    documents: int = 0


class VectorIndex:
    """The rows of all documents, ordered by document number."""

    def __init__(self, folder: str, encoder: Encoder) -> None:
        self._root, self._folder = folder, f"{folder}/{FOLDER}"
        self.encoder = encoder
        self.extent = self._load_extent()
        self.graph: Graph | None = None
        self._map()

    def warm(self, *, build: bool = True, tick: Callable[[int], object] | None = None) -> None:
        """Get ready for many searches: open the graph of the rows, or make it (see `graph`)."""
        from memfs.search import graph

        path, model = self._folder, self.encoder.name
        self.graph = graph.ready(path, model, self.vectors, build=build, tick=tick)

    def follow(self) -> VectorIndex:
        """Open the index again, after rows were added; the graph is taken over if only that."""
        made = VectorIndex(self._root, self.encoder)
        if made._file == self._file is not None and made.extent.rows >= self.extent.rows:
            made.graph = self.graph
        return made

    def extend(self, documents: Iterator[Document], end: int) -> None:
        """Add the windows of documents in rising order; `end` is one past the last number."""
        if not self.extent.rows:  # files of another model may be mapped by readers: no truncating
            self.clear()
        os.makedirs(self._folder, 0o700, exist_ok=True)
        names = ("vectors.i8", "owners.u32", "tokens.u16", "ends.u64", "groups.u32")
        files = [open(self._path(name), "ab") for name in names]  # noqa: SIM115
        try:
            self._cut(files)
            for batch in _batches(documents):
                self._append(files, batch)
            for file in files:
                file.flush()
                os.fsync(file.fileno())
        finally:
            for file in files:
                file.close()
        self.extent.documents = end
        self._save_frequencies()
        self._save_extent()
        self._map()

    def clear(self) -> None:
        """Forget every row (readers keep the files they have mapped)."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self.extent = Extent(self.encoder.name)
        self.graph = None
        self._map()

    def candidates(
        self, query: NDArray[np.float32], limit: int, allowed: NDArray[np.uint32] | None
    ) -> list[int]:
        """Return the numbers of the documents nearest to a unit vector, the best first."""
        rows = self.vectors
        owners = self.owners
        if allowed is not None:
            keep = np.flatnonzero(np.isin(owners, allowed))
            rows, owners = rows[keep], owners[keep]
        if not len(rows) or not query.any():
            return []
        wanted = min(len(rows), limit * 3)  # several windows may belong to one document
        quantised = np.rint(query * 127).astype(np.int8)
        graph = self.graph if allowed is None else None
        found, _ = (graph or scan).nearest(rows, quantised, wanted)
        numbers = owners[found]
        return list(dict.fromkeys(int(number) for number in numbers))[:limit]

    def windows(self, numbers: list[int]) -> list[tuple[int, int]]:
        """Return the (first, one past last) row of each document."""
        wanted = np.array(numbers, np.uint32)
        first = np.searchsorted(self.owners, wanted, "left")
        last = np.searchsorted(self.owners, wanted, "right")
        return list(zip(first.tolist(), last.tolist(), strict=True))

    def cosines(self, query: NDArray[np.float32], numbers: list[int]) -> NDArray[np.float64]:
        """Return each document's best cosine to a unit vector, 0 for one without vectors."""
        spans = self.windows(numbers)
        rows = np.array([row for first, last in spans for row in range(first, last)], np.intp)
        out = np.zeros(len(numbers))
        if len(rows):
            filled = [index for index, (first, last) in enumerate(spans) if last > first]
            starts = np.cumsum([0, *(spans[at][1] - spans[at][0] for at in filled[:-1])])
            out[filled] = np.maximum.reduceat(self._similar(query, rows), starts)
        return out

    def rows_of(
        self, span: tuple[int, int], most: int, query: NDArray[np.float32] | None = None
    ) -> list[int]:
        """Return at most `most` of a document's rows: the nearest to `query`, if it is given."""
        rows = list(range(*span))
        if len(rows) <= most:
            return rows
        if query is None:
            return rows[:most]
        similar = self._similar(query, np.array(rows, np.intp))
        return [rows[index] for index in np.argsort(-similar, kind="stable")[:most]]

    def groups_of(self, numbers: list[int]) -> NDArray[np.uint32]:
        """Return the group of each document, 0 for one that stands alone or has no vectors."""
        out = np.zeros(len(numbers), np.uint32)
        for index, (first, last) in enumerate(self.windows(numbers)):
            if last > first:
                out[index] = self.groups[first]
        return out

    def weights(self, tokens: NDArray[np.uint16]) -> NDArray[np.float64]:
        """Return what each token of a question says: its norm in the model by its rarity here.

        They add up to 1.
        """
        count = max(1, self.extent.rows)
        idf = np.log(1 + count / (1 + self.frequencies[tokens].astype(np.float64)))
        found = self.encoder.norms(tokens).astype(np.float64) * idf
        return np.asarray(found / max(float(found.sum()), 1e-9))

    def _similar(self, query: NDArray[np.float32], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        found = np.asarray(self.vectors[rows], np.float32)
        norms = np.maximum(np.linalg.norm(found, axis=1), 1e-9)
        return np.asarray(found @ query / norms, np.float64)

    def neighbours(self, numbers: list[int], most: int) -> dict[int, tuple[list[int], list[int]]]:
        """Return for each document up to `most` of its group before it, and after; nearest first.

        Documents are numbered as they come: those of a group may have others between them.
        """
        owners, groups = self.owners, self.groups
        found: dict[int, tuple[list[int], list[int]]] = {n: ([], []) for n in numbers}
        if not numbers or not len(owners):
            return found
        steps = np.arange(1, _REACH + 1)
        around = np.concatenate([-steps, [0], steps])
        every = np.maximum(np.array(numbers, np.int64)[:, None] + around, 0).astype(np.uint32)
        rows = np.minimum(owners.searchsorted(every), len(owners) - 1)  # of one type: no copy
        group = np.where(owners[rows] == every, groups[rows], 0)
        same = (group == group[:, _REACH, None]) & (group != 0)
        for side, span in enumerate((slice(0, _REACH), slice(_REACH + 1, None))):
            mine = same[:, span]
            mine &= np.cumsum(mine, axis=1) <= most
            for at, step in zip(*np.nonzero(mine), strict=True):
                found[numbers[at]][side].append(int(every[:, span][at, step]))
        return found

    def said(self, numbers: list[int]) -> list[frozenset[int]]:
        """Return what tells documents apart that say the same: their tokens, in any order.

        Empty for one without vectors, or a long one.
        """
        return [
            frozenset(self.tokens_of(first).tolist() if last == first + 1 else ())
            for first, last in self.windows(numbers)
        ]

    def tokens_of(self, row: int) -> NDArray[np.uint16]:
        """Return the token ids of a row."""
        start = int(self.ends[row - 1]) if row else 0
        return np.asarray(self.tokens[start : int(self.ends[row])])

    def _map(self) -> None:
        extent, dims = self.extent, self.encoder.dims
        self._file = self._identity()  # before it is mapped: what is mapped keeps its number
        vectors = self._mapped("vectors.i8", np.int8, extent.rows * dims)
        self.vectors = np.asarray(vectors, np.int8).reshape(-1, dims)
        self.owners = self._mapped("owners.u32", np.uint32, extent.rows)
        self.tokens = self._mapped("tokens.u16", np.uint16, extent.tokens)
        self.ends = self._mapped("ends.u64", np.uint64, extent.rows)
        self.groups = self._mapped("groups.u32", np.uint32, extent.rows)
        self.frequencies = self._load_frequencies()

    def _identity(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._path("vectors.i8"))
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _load_frequencies(self) -> NDArray[np.uint32]:
        """Return how often each token occurs; counted again if the file is lost or damaged."""
        size = len(self.encoder.table)
        try:
            found = np.load(self._path("frequencies.npy"))
        except (OSError, ValueError, EOFError):
            found = None
        if isinstance(found, np.ndarray) and found.shape == (size,) and self.extent.rows:
            return found.astype(np.uint32)
        return np.bincount(self.tokens, minlength=size).astype(np.uint32)

    def _mapped(self, name: str, kind: type, count: int) -> NDArray[np.generic]:
        if not count:
            return np.zeros(0, kind)
        # as a plain array: every slice of a memmap costs ten times as much
        return np.asarray(np.memmap(self._path(name), kind, "r", shape=(count,)))

    def _append(self, files: list, batch: list[Document]) -> None:  # type: ignore[type-arg]
        pieces = [(number, group, piece) for number, group, text in batch for piece in split(text)]
        encoded = self.encoder.encode([piece for _, _, piece in pieces])
        lengths = np.array([len(row) for row in encoded.tokens], np.uint64)
        tokens = np.concatenate(encoded.tokens) if encoded.tokens else np.zeros(0, np.uint16)
        ends = self.extent.tokens + np.cumsum(lengths, dtype=np.uint64)
        files[0].write(np.rint(encoded.vectors * 127).astype(np.int8).tobytes())
        files[1].write(np.array([number for number, _, _ in pieces], np.uint32).tobytes())
        files[2].write(tokens.astype(np.uint16).tobytes())
        files[3].write(ends.astype(np.uint64).tobytes())
        files[4].write(np.array([group for _, group, _ in pieces], np.uint32).tobytes())
        counts = np.bincount(tokens, minlength=len(self.frequencies))
        self.frequencies = self.frequencies + counts.astype(np.uint32)
        self.extent.rows += len(pieces)
        self.extent.tokens += len(tokens)

    def _cut(self, files: list) -> None:  # type: ignore[type-arg]
        """Drop what a killed run appended behind the extent."""
        extent = self.extent
        sizes = (
            extent.rows * self.encoder.dims, extent.rows * 4, extent.tokens * 2, extent.rows * 8,
            extent.rows * 4,
        )  # fmt: skip
        for file, size in zip(files, sizes, strict=True):
            file.truncate(size)

    def _load_extent(self) -> Extent:
        try:
            with open(self._path("rows.json"), encoding="utf-8") as handle:
                found = Extent(**json.load(handle))
        except (OSError, ValueError, TypeError):
            return Extent(self.encoder.name)
        return found if found.model == self.encoder.name and self._whole(found) else Extent(
            self.encoder.name
        )  # fmt: skip

    def _whole(self, extent: Extent) -> bool:
        """Tell whether the files are at least as long as the extent says."""
        needed = {
            "vectors.i8": extent.rows * self.encoder.dims, "owners.u32": extent.rows * 4,
            "tokens.u16": extent.tokens * 2, "ends.u64": extent.rows * 8,
            "groups.u32": extent.rows * 4,
        }  # fmt: skip
        try:
            return all(os.path.getsize(self._path(name)) >= size for name, size in needed.items())
        except OSError:
            return not extent.rows

    def _save_extent(self) -> None:
        temporary = self._path("rows.json.tmp")
        with open(temporary, "w", encoding="utf-8") as handle:
            json.dump(asdict(self.extent), handle)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, self._path("rows.json"))

    def _save_frequencies(self) -> None:
        temporary = self._path("frequencies.tmp.npy")
        np.save(temporary, self.frequencies)
        os.replace(temporary, self._path("frequencies.npy"))

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}"


def split(text: str, window: int = WINDOW, overlap: int = OVERLAP) -> list[str]:
    """Cut a text into windows of `window` words that share `overlap` words; one at least."""
    words = text.split()
    if len(words) <= window:
        return [text]
    step = window - overlap
    starts = range(0, max(1, len(words) - overlap), step)
    return [" ".join(words[start : start + window]) for start in starts]


def _batches(documents: Iterator[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    for document in documents:
        batch.append(document)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
