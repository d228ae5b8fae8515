"""Keeping the index of a store current: what is new in its sources goes in, what is gone out.

An index run is idempotent: documents are numbered from the last published number on, and whatever
an interrupted run left behind from there is deleted before the next one adds anything.
"""

from __future__ import annotations

from contextlib import closing, contextmanager, nullcontext, suppress
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from memfs import files
from memfs.core.errors import DamagedError, is_damage
from memfs.files import signatures, trees
from memfs.search import active_model, catalog, doc_json, segments, vector_layout, vector_manifest
from memfs.search.catalog import Catalog, IndexSource, KnownSource
from memfs.search.lexical import CHECKED, Query, TextIndex, list_unchecked
from memfs.search.lexical import FOLDER as TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from memfs.files.signatures import Signature
    from memfs.search.model_files import ModelFiles
    from memfs.search.semantic import Document, VectorIndex

BATCH = 20_000  # documents that get vectors before those of them count
COMMIT = 60_000  # for one commit: whatever it holds it costs the same, and small ones are merged
_FEW_ROWS = 100
_MANY = 2000  # documents from which on every core makes vectors
_TOLD = 200  # documents for which progress is told


_LAST = 1 << 27  # documents were never numbered so high


@contextmanager
def open_writer(folder: str) -> Iterator[Indexer]:
    """Open an index to write it. One that is damaged is removed, but for the graph of sessions.

    Raises `DamagedError` then: whoever asks again makes it anew.
    """
    try:
        with closing(Indexer(folder)) as indexer:
            yield indexer
    except BaseException as error:
        if not is_damage(error):
            raise
        remove(folder)
        raise DamagedError("the search index was damaged", "it is made anew: try again") from error


def remove(folder: str) -> None:
    """Remove an index. The caller holds the lock that keeps writers out."""
    for version in ("v1", "v2", "v3"):
        trees.remove(f"{folder}/{version}")
    for suffix in ("", "-journal", "-wal", "-shm"):
        files.remove(f"{folder}/catalog.sqlite{suffix}")


class Indexed(NamedTuple):
    """What an index run did."""

    added: int
    sources: int


class Indexer:
    """Writes one index folder. The caller holds the lock that keeps other writers out."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
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
            # No index, one of another version, or one whose catalog is lost: all is derived.
            self._catalog.clear()
            for version in ("v1", "v2", "v3"):
                trees.remove(f"{folder}/{version}")
            found = TextIndex.create(folder)
        self._text = found
        self._next = int(self._catalog.get("next") or 1)
        if not 0 < self._next < _LAST:
            raise DamagedError("the catalog of the index is damaged")
        self._pending: dict[str, KnownSource | None] = {}
        self._waiting = 0
        self._dirty = bool(self._catalog.get("dirty"))
        self._gone: list[int] = []
        if self._dirty:  # nobody noted what the run before took out
            self._catalog.put("recount", "1")
            self._text.delete_matching(self._text.numbered(self._next))

    @property
    def whole(self) -> bool:
        """Tell whether all sources were indexed once: a new index has most before it."""
        return bool(self._catalog.get("whole"))

    def close(self) -> None:
        """Forget what was not committed, and let other writers in."""
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
        """Bring the text index in line with `sources`, which are all there are if not `partly`.

        `read` yields the documents of a source from a byte on; `tick` is told of each batch of
        documents added.
        """
        known = {} if partly else self._noted()
        added = changed = 0
        seen = set()
        for source in sources:
            seen.add(source.path)
            signature = signatures.sign_file(source.path)
            before = self._catalog.find(source.path) if partly else known.get(source.path)
            if signature is None or (before and before.signature == str(signature)):
                continue
            changed += 1
            added += self._index(source, signature, before, read, tick)
        for path in known.keys() - seen:
            changed += 1
            self._delete(path)
            self._pending[path] = None
        self.publish()
        if not partly and not self.whole:
            self._catalog.put("whole", "1")
        return Indexed(added, changed)

    def follows(self, path: str, size: int) -> bool:
        """Tell whether the first `size` bytes of a file that grows are all of it, and indexed."""
        known = self._pending[path] if path in self._pending else self._catalog.find(path)
        found = signatures.sign_file(path)
        if known is None or found is None:
            return known is None and not size and (found is None or not found.size)
        return known.consumed == size and known.signature == str(found)

    def feed(self, path: str, documents: list[str]) -> None:
        """Add what a file that grows says from where the index is (see `doc_json.prepared`)."""
        self._begin()
        first, source = self._next, doc_json.quote_path(path)
        self._next += len(documents)
        numbers = range(first, self._next)
        self._waiting += self._text.put(
            map(doc_json.add_number, documents, numbers, repeat(source))
        )

    def reach(self, sizes: Mapping[str, int]) -> None:
        """Note that files which were fed are indexed up to these sizes, which are all of them."""
        for path, size in sizes.items():
            found = signatures.sign_file(path)
            if found and found.size == size:
                self._pending[path] = KnownSource(str(found), size, catalog.hash_ends(path, size))
            else:  # somebody else wrote to it: all of it again
                self._pending[path] = KnownSource("", 0)
        if self._waiting >= COMMIT:
            self._commit()

    def publish(self) -> None:
        """Make what was fed count, and let other processes write."""
        self._commit()
        self._text.finish()
        looks = signatures.sign_files(f"{self._folder}/{TEXT}")
        with suppress(OSError, ValueError):  # they are looked into again
            if looks and list_unchecked(self._folder, looks):
                segments.mark_checked(f"{self._folder}/{CHECKED}", looks)

    def embed(
        self,
        tick: Callable[[int], object] | None = None,
        model: ModelFiles | None = None,
        most: int = 0,
    ) -> int:
        """Give vectors of a model to the documents that have none yet; return how many.

        At most `most` of them, if it is given. When all have some, these are what is searched, and
        those of other models are removed. Each batch counts when it is done: a run that was killed
        is gone on with. Vectors that are damaged are all made anew.
        """
        try:
            return self._embed(tick, model, most)
        except BaseException as error:
            if not is_damage(error):
                raise
        active_model.drop(self._folder)
        return self._embed(tick, model, most)

    def _embed(
        self, tick: Callable[[int], object] | None, model: ModelFiles | None, most: int
    ) -> int:
        from memfs.search import encoder  # with numpy: there may be nothing new

        text, vectors = self._text, self._vectors(model)
        if self._catalog.get("recount"):
            there = set(text.numbers(text.found(Query.all_query())))
            vector_layout.forget(self._folder, (n for n in range(self._next) if n not in there))
            self._catalog.put("recount", "")
        if vectors.extent.documents > self._next or _mostly_gone(vectors):
            vectors.clear()
        first, end = max(1, vectors.extent.documents), self._next
        last = min(end, first + most) if most else end
        with encoder.every_core() if end - first >= _MANY else nullcontext():
            for start in range(first, last, BATCH):
                stop = min(last, start + BATCH)
                vectors.extend(_unembedded(text, start, stop, tick), stop)
        if last == end and vectors.extent.documents:
            active_model.serve(self._folder, vectors.encoder.name)
        return max(0, last - first)

    def unembedded(self, model: str) -> int:
        """Return about how many documents have no vectors of a model, by its name."""
        return max(0, self._next - max(1, vector_manifest.extent(self._folder, model).documents))

    def _noted(self) -> dict[str, KnownSource]:
        """Return every indexed source, also those that no commit holds yet."""
        noted = {**self._catalog.known(), **self._pending}
        return {path: known for path, known in noted.items() if known}

    def _vectors(self, model: ModelFiles | None) -> VectorIndex:
        # Numpy and usearch take longer than all the rest of a hook that indexes one message.
        from memfs.search import encoder  # with numpy: there may be nothing new
        from memfs.search.semantic import VectorIndex  # likewise

        return VectorIndex(self._folder, encoder.open_model(model) if model else encoder.bundled())

    def _index(
        self,
        source: IndexSource,
        signature: Signature,
        before: KnownSource | None,
        read: Callable[[IndexSource, int], Iterator[dict[str, object]]],
        tick: Callable[[int], object] | None,
    ) -> int:
        start = 0
        if before is not None:
            # As large as it was, and another one by its time: somebody wrote into it.
            grown = source.grows and 0 < before.consumed < signature.size
            if grown and catalog.hash_ends(source.path, before.consumed) == before.mark:
                start = before.consumed
            else:
                self._delete(source.path)
        first = self._next
        self._begin()
        try:
            self._text.add(self._numbered(source, read(source, start), tick))
        except OSError:  # removed meanwhile, or not ours to read: the next run tries again
            self._delete(source.path)
            self._pending[source.path] = None
            return 0
        added = self._next - first
        if tick:
            tick(added % _TOLD)
        if signatures.sign_file(source.path) == signature:
            mark = catalog.hash_ends(source.path, signature.size) if source.grows else ""
            self._pending[source.path] = KnownSource(str(signature), signature.size, mark)
        else:  # somebody wrote while it was read: nobody knows up to where, so all of it again
            self._pending[source.path] = KnownSource("", 0)
        self._waiting += added
        if self._waiting >= COMMIT:
            self._commit()
        return added

    def _numbered(
        self,
        source: IndexSource,
        documents: Iterator[dict[str, object]],
        tick: Callable[[int], object] | None,
    ) -> Iterator[dict[str, object]]:
        for count, document in enumerate(documents, 1):
            document["num"], document["source"] = self._next, source.path
            self._next += 1
            yield document
            if tick and count % _TOLD == 0:
                tick(_TOLD)

    def _begin(self) -> None:
        """Note that a run has begun: until it is published, what it adds does not count."""
        if not self._dirty:
            self._catalog.put("dirty", "1")
            self._dirty = True

    def _delete(self, path: str) -> None:
        self._begin()
        self._gone += self._text.numbers(self._text.found(self._text.term("source", path)))
        self._text.delete("source", path)

    def _commit(self) -> None:
        if not self._dirty:
            return
        self._text.commit()
        if self._gone:
            vector_layout.forget(self._folder, self._gone)
        self._catalog.publish(self._next, self._pending)
        self._dirty = False
        self._gone = []
        self._pending = {}
        self._waiting = 0


def _mostly_gone(vectors: VectorIndex) -> bool:
    """Tell whether more than half of the rows are of documents that are gone: they only take time.

    Documents that were gone when vectors were made have none: that is no reason to begin anew.
    """
    gone = int((vectors.documents[vectors.owners, vector_layout.WEIGHT] == 0).sum())
    return vectors.extent.rows > _FEW_ROWS and 2 * gone > vectors.extent.rows


def _unembedded(
    text: TextIndex, first: int, end: int, tick: Callable[[int], object] | None
) -> Iterator[Document]:
    from memfs.search.semantic import Document  # likewise

    step = 2000
    for start in range(first, end, step):
        addresses = text.found(text.numbered(start, min(end, start + step)))
        fields = ("num", "group", "said", "at", "weight")
        found = []
        for address, number, *kept in zip(
            addresses, *(text.numbers(addresses, field) for field in fields), strict=True
        ):
            content = text.document(address).get("text")
            if content:
                found.append(Document(number, kept[0], str(content[0]), *kept[1:]))
        yield from sorted(found)
        if tick:
            tick(min(step, end - start))
