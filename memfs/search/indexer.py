"""Keeping a store's index current: new and changed sources are added, missing ones removed.

What an interrupted run added, from the last published number on, is deleted by the next run.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from memfs import files
from memfs.core.errors import DamagedError, StoppedError, find_refusal, is_damage
from memfs.files import atomic, signatures, trees
from memfs.files.signatures import Signature
from memfs.search import TEXT, active_model, catalog, doc_json, vector_layout
from memfs.search.catalog import Catalog, IndexSource, KnownSource, LeftOutError
from memfs.search.lexical import CHECKED, Query, TextIndex, list_files_to_check

if TYPE_CHECKING:
    from memfs.search.model_files import ModelFiles
    from memfs.search.semantic import Document

BATCH = 20_000  # documents whose vectors are published together
COMMIT = 60_000  # documents: a commit has a fixed cost, and small ones are merged
_ROOM = 16 << 20  # bytes: with less on a disk, a write can have failed for want of room
_FEW_ROWS = 100
_VERSIONS = ("v1", "v2", "v3", "v4", "v5")  # folders of this version and of earlier ones
_MANY = 2000  # documents for which every core is used
_REPORT = 200  # documents between two progress reports


_LAST = 1 << 27  # beyond every document number


@contextmanager
def open_writer(folder: str, commit: int = 0) -> Iterator[Indexer]:
    """Open an index for writing, to commit so many documents at a time (0: `COMMIT`).

    A damaged one is removed, except the session graph. Raises `DamagedError` then; the next call
    creates it anew. Raises `OSError` with a path where the system refuses to read or write it.
    """
    try:
        with closing(Indexer(folder, commit)) as indexer:
            yield indexer
    except BaseException as error:
        if refusal := _find_refusal(error, folder):
            raise refusal from error
        if not is_damage(error):
            raise
        remove(folder)
        raise DamagedError(
            "the search index was damaged, so memfs removed it",
            "run the command again, which rebuilds it",
        ) from error


def _find_refusal(error: BaseException, folder: str) -> OSError | None:
    if "writer was killed" in str(error) and trees.get_room(folder) < _ROOM:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), folder)
    return find_refusal(error, folder)


def remove(folder: str) -> None:
    """Remove an index. The caller holds the write lock."""
    for version in _VERSIONS:
        trees.remove(f"{folder}/{version}")
    for suffix in ("", "-journal", "-wal", "-shm"):
        files.remove(f"{folder}/catalog.sqlite{suffix}")


class Indexed(NamedTuple):
    """The result of an index run."""

    added: int
    sources: int


class Indexer:
    """Writes one index folder. The caller holds the write lock."""

    def __init__(self, folder: str, commit: int = 0) -> None:
        self._folder = folder
        self._most = commit or COMMIT
        self._catalog = Catalog(folder)
        try:
            self._open()
        except BaseException:
            self._catalog.close()
            raise

    def _open(self) -> None:
        folder = self._folder
        found = TextIndex.open(folder)
        if found is None or not self._catalog.get("next"):
            # No index, one of another version, or one without a catalog: all is derived.
            self._catalog.clear()
            for version in _VERSIONS:
                trees.remove(f"{folder}/{version}")
            found = TextIndex.create(folder)
        self._text = found
        self._looks = signatures.sign_files(f"{folder}/{TEXT}") or {}
        self._next = int(self._catalog.get("next") or 1)
        if not 0 < self._next < _LAST:
            raise DamagedError("the catalog of the search index is damaged")
        self._pending: dict[str, KnownSource | None] = {}
        self._uncommitted = 0
        self._dirty = bool(self._catalog.get("dirty"))
        self._deleted: list[int] = []
        if self._dirty:  # deletions of the interrupted run were not recorded
            self._catalog.put("recount", "1")
            self._text.delete_matching(self._text.number_query(self._next))

    @property
    def whole(self) -> bool:
        return bool(self._catalog.get("whole"))

    def close(self) -> None:
        try:
            self._text.rollback()
        finally:
            self._catalog.close()

    def update(
        self,
        sources: Iterable[IndexSource],
        read: Callable[[IndexSource, int], Iterator[dict[str, object]]],
        tick: Callable[[int], object] | None = None,
        *,
        partly: bool = False,
    ) -> Indexed:
        """Bring the text index in line with `sources`: all sources, or some of them with `partly`.

        `read` yields the documents of a source from a byte on; `tick` is called with the number of
        documents added in each batch.
        """
        listed = {} if partly else {**self._catalog.list_sources(), **self._pending}
        known = {path: each for path, each in listed.items() if each}
        added = changed = 0
        seen = set()
        for source in sources:
            seen.add(source.path)
            signature = source.signature or signatures.sign_file(source.path)
            before = self._catalog.find(source.path) if partly else known.get(source.path)
            if signature is None or (before and before.signature == str(signature)):
                continue
            changed += 1
            try:
                added += self._index_source(source, signature, before, read, tick)
            except StoppedError:  # the next run indexes this source, and those after it
                self._discard_source(source.path)
                self.publish()
                raise
        for path in known.keys() - seen:
            changed += 1
            self._delete_source(path)
            self._pending[path] = None
        self.publish()
        if not partly and not self.whole:
            self._catalog.put("whole", "1")
        return Indexed(added, changed)

    def count_sources(self) -> int:
        return self._catalog.count_sources()

    def list_marks(self) -> dict[str, str]:
        """Return why sources were left out, by path (see `LeftOutError`)."""
        return self._catalog.list_marks()

    def count_documents(self) -> int:
        return int(self._text.searcher.num_docs)

    def is_indexed_to(self, path: str, size: int) -> bool:
        """Tell whether an append-only file has exactly `size` bytes, all of them indexed."""
        known = self._pending[path] if path in self._pending else self._catalog.find(path)
        found = signatures.sign_file(path)
        if known is None or found is None:
            return known is None and not size and (found is None or not found.size)
        return known.consumed == size and known.signature == str(found)

    def add_documents(self, path: str, documents: list[str]) -> None:
        """Add prepared documents of an append-only file (see `doc_json.prepare_document`)."""
        self._mark_dirty()
        first, source = self._next, doc_json.quote_path(path)
        self._next += len(documents)
        numbers = range(first, self._next)
        self._uncommitted += self._text.add_json(
            map(doc_json.add_number, documents, numbers, repeat(source))
        )

    def record_sizes(self, sizes: Mapping[str, int]) -> None:
        """Record that files are indexed up to these sizes; one of another size is read again."""
        for path, size in sizes.items():
            found = signatures.sign_file(path)
            if found and found.size == size:
                self._pending[path] = KnownSource(str(found), size, catalog.hash_ends(path, size))
            else:  # another process wrote to it: index all of it again
                self._pending[path] = KnownSource("", 0)
        if self._uncommitted >= self._most:
            self._commit()

    def publish(self) -> None:
        """Commit all changes, and let other processes write."""
        self._commit()
        self._text.finish()
        looks = signatures.sign_files(f"{self._folder}/{TEXT}") or {}
        self._looks = looks | self._looks  # one that changed since it was verified was damaged
        with suppress(OSError, ValueError):  # they are verified again
            if list_files_to_check(self._folder, looks):
                whole = dict(looks.items() & self._looks.items())
                path = f"{self._folder}/{CHECKED}"
                atomic.write_derived(path, json.dumps(whole).encode())

    def embed(
        self,
        tick: Callable[[int], object] | None = None,
        model: ModelFiles | None = None,
        most: int = 0,
    ) -> int:
        """Add the missing vectors of a model; return the number of documents.

        `most` limits them, 0: all. Once all documents have vectors, these are searched, and other
        models' vectors are removed. Each batch is published: the next run continues a killed one.
        Damaged vectors are rebuilt.
        """
        try:
            return self._embed(tick, model, most)
        except BaseException as error:
            if not is_damage(error):
                raise
        active_model.drop_vectors(self._folder)
        return self._embed(tick, model, most)

    def _embed(
        self, tick: Callable[[int], object] | None, model: ModelFiles | None, most: int
    ) -> int:
        from memfs.search import encoder  # with numpy: there may be nothing new
        from memfs.search.semantic import VectorIndex  # likewise

        chosen = encoder.open_model(model) if model else encoder.load_bundled()
        text, vectors = self._text, VectorIndex(self._folder, chosen)
        if self._catalog.get("recount"):
            there = set(text.numbers(text.find_all(Query.all_query())))
            lost = (number for number in range(self._next) if number not in there)
            vector_layout.delete_documents(self._folder, lost)
            self._catalog.put("recount", "")
        gone = int((vectors.documents[vectors.owners, vector_layout.WEIGHT] == 0).sum())
        is_mostly_gone = vectors.extent.rows > _FEW_ROWS and 2 * gone > vectors.extent.rows
        if vectors.extent.documents > self._next or is_mostly_gone:
            vectors.clear()
        first, end = max(1, vectors.extent.documents), self._next
        last = min(end, first + most) if most else end
        with encoder.every_core() if end - first >= _MANY else nullcontext():
            for start in range(first, last, BATCH):
                stop = min(last, start + BATCH)
                vectors.extend(_read_documents(text, start, stop, tick), stop)
        if last == end and vectors.extent.documents:
            active_model.serve(self._folder, vectors.encoder.name)
        return max(0, last - first)

    def count_missing_vectors(self, model: str) -> int:
        """Return about how many documents have no vectors of a model, by its name."""
        extent = vector_layout.load_extent(self._folder, model)
        return max(0, self._next - max(1, extent.documents))

    def _index_source(
        self,
        source: IndexSource,
        signature: Signature,
        before: KnownSource | None,
        read: Callable[[IndexSource, int], Iterator[dict[str, object]]],
        tick: Callable[[int], object] | None,
    ) -> int:
        start = 0
        if before is not None:
            # The same size with another time: it was changed in place.
            grown = source.grows and 0 < before.consumed < signature.size
            if grown and catalog.hash_ends(source.path, before.consumed) == before.mark:
                start = before.consumed
            else:
                self._delete_source(source.path)
        first, reason = self._next, ""
        self._mark_dirty()
        try:
            self._text.add(self._assign_numbers(source, read(source, start), tick))
        except LeftOutError as left:
            reason = str(left)
        except OSError:  # removed meanwhile, or not readable: the next run tries again
            self._discard_source(source.path)
            return 0
        added = self._next - first
        if tick:
            tick(added % _REPORT)
        if signatures.sign_file(source.path) == signature:
            mark = catalog.hash_ends(source.path, signature.size) if source.grows else reason
            self._pending[source.path] = KnownSource(str(signature), signature.size, mark)
        else:  # it was written to meanwhile, and the indexed end is unknown: index all of it again
            self._pending[source.path] = KnownSource("", 0)
        self._uncommitted += added
        if self._uncommitted >= self._most:
            self._commit()
        return added

    def _assign_numbers(
        self,
        source: IndexSource,
        documents: Iterator[dict[str, object]],
        tick: Callable[[int], object] | None,
    ) -> Iterator[dict[str, object]]:
        for count, document in enumerate(documents, 1):
            document["num"], document["source"] = self._next, source.path
            self._next += 1
            yield document
            if tick and count % _REPORT == 0:
                tick(_REPORT)

    def _mark_dirty(self) -> None:
        """Mark the index as being written: what is added does not count until it is published."""
        if not self._dirty:
            self._catalog.put("dirty", "1")
            self._dirty = True

    def _delete_source(self, path: str) -> None:
        self._mark_dirty()
        addresses = self._text.find_all(self._text.term_query("source", path))
        self._deleted += self._text.numbers(addresses)
        self._text.delete("source", path)

    def _discard_source(self, path: str) -> None:
        self._delete_source(path)
        self._pending[path] = None

    def _commit(self) -> None:
        if not self._dirty:
            return
        self._text.commit()
        if self._deleted:
            vector_layout.delete_documents(self._folder, self._deleted)
        self._catalog.publish(self._next, self._pending)
        self._dirty = False
        self._deleted = []
        self._pending = {}
        self._uncommitted = 0


def _read_documents(
    text: TextIndex, first: int, end: int, tick: Callable[[int], object] | None
) -> Iterator[Document]:
    from memfs.search.semantic import Document  # likewise

    step = 2000
    for start in range(first, end, step):
        addresses = text.find_all(text.number_query(start, min(end, start + step)))
        fields = ("num", "group", "said", "at", "weight")
        found = []
        for address, number, *values in zip(
            addresses, *(text.numbers(addresses, field) for field in fields), strict=True
        ):
            content = text.read_fields(address).get("text")
            if content:
                found.append(Document(number, values[0], str(content[0]), *values[1:]))
        yield from sorted(found)
        if tick:
            tick(min(step, end - start))
