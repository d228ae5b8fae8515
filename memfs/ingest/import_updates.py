"""What an import replaces: passages that came from the same place before, and read otherwise there.

A passage that somebody changed here stays, and so does one that is no longer there: both are told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from memfs import files
from memfs.files import atomic
from memfs.ingest import import_merge
from memfs.store import archive, clock, import_records, local_folder
from memfs.store.import_records import AddedPart
from memfs.store.store_paths import Store


class OutdatedPassages(NamedTuple):
    """Files of passages: those to replace, those changed here, and those gone at their source."""

    replaced: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]

    def describe(self) -> str:
        """Say in words what becomes of them, "" for none."""
        told = [
            f"{len(self.replaced):,} replaced, for their source changed (copies: local/backup)"
            * bool(self.replaced),
            f"{len(self.changed):,} changed at their source and here: both are kept"
            * bool(self.changed),
            f"{len(self.gone):,} no longer there, and kept" * bool(self.gone),
        ]
        return "; ".join(f"passages: {each}" for each in told if each)


def find_outdated(store: Store, found: Mapping[str, bytes], origin: str) -> OutdatedPassages:
    """Find the passages that earlier imports from `origin` added and this one does not bring."""
    texts: dict[str, set[str]] = {}
    for name, data in import_merge.list_files(found, import_merge.PASSAGES):
        passage = archive.parse(name, data.decode("utf-8", "replace"))
        texts.setdefault(passage.source, set()).add(archive.merge_passages(passage.text))
    replaced: dict[str, None] = {}
    changed: dict[str, None] = {}
    gone: dict[str, None] = {}
    for part in _list_parts(store, origin):
        path = import_records.locate(store, part.path)
        before = archive.read(path)
        if before is None or not before.source:
            continue
        current = texts.get(before.source)
        if current is None:
            gone[path] = None
        elif archive.merge_passages(before.text) not in current:
            same = import_records.hash_text(files.read(path) or "") in part.marks
            (replaced if same else changed)[path] = None
    return OutdatedPassages(tuple(replaced), tuple(changed), tuple(gone))


def _list_parts(store: Store, origin: str) -> Iterator[AddedPart]:
    """Yield the passages that earlier imports from `origin` added."""
    for record in import_records.read_all(store):
        for part in record.parts if record.source == origin else ():
            if part.path.startswith("archive/"):
                yield part


def remove(store: Store, outdated: OutdatedPassages) -> None:
    """Remove what is replaced, and keep copies. The caller holds the locks of the store."""
    if not outdated.replaced:
        return
    local_folder.make(store)
    folder = f"{store.local}/backup"
    files.make_folder(folder, private=True)
    for path in outdated.replaced:
        copy = f"{folder}/{clock.unique()}-passage{archive.SUFFIX}"
        atomic.write(copy, files.read(path) or "", private=True)
        files.remove(path)
