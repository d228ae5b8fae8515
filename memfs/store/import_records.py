"""What each import added, so that it can be taken back: one file for each in `local/imports`."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass

import msgspec

from memfs import files
from memfs.files import atomic
from memfs.store import clock
from memfs.store.store_paths import Store

_FOLDER = "imports"
_SUFFIX = ".json"


@dataclass(frozen=True)
class AddedPart:
    """One thing that an import added.

    `kind` is file, lines, messages or block. `path` is below the store's folder, or, where it
    begins with `local/`, below its local folder; of a block it is the label. `marks` are the hash
    of a file, those of lines, ids of messages, or the id of a block's journal entry.
    """

    kind: str
    path: str
    marks: tuple[str, ...]


@dataclass(frozen=True)
class ImportRecord:
    """One import into one store: its id, time, what it was from, and what it added."""

    id: str
    at: str
    source: str
    parts: tuple[AddedPart, ...]


def make_id() -> str:
    """Return a new id, short enough to be typed."""
    return clock.unique()[4:16]


def hash_text(text: str) -> str:
    """Return the hash by which a text is known again."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def locate(store: Store, path: str) -> str:
    """Return the file that a part's path names."""
    if path.startswith("local/"):
        return f"{store.local}/{path.removeprefix('local/')}"
    return f"{store.root}/{path}"


def clear_temporary(store: Store) -> None:
    """Remove what killed runs left half-written. The caller holds the lock of ingestion."""
    folder = f"{store.local}/{_FOLDER}"
    for name in files.names(folder):
        if name.startswith(".") and name.endswith(".tmp"):
            files.remove(f"{folder}/{name}")


def save(store: Store, record: ImportRecord) -> None:
    """Write down an import. The caller holds the lock of ingestion."""
    folder = f"{store.local}/{_FOLDER}"
    files.make_folder(folder, private=True)
    text = msgspec.json.encode(asdict(record)).decode()
    atomic.write(_get_path(store, record.id), text, private=True, locked=True)


def read_all(store: Store) -> list[ImportRecord]:
    """Return the imports that were not taken back, the oldest first; damaged ones are left out."""
    folder = f"{store.local}/{_FOLDER}"
    found = []
    for name in sorted(files.names(folder)):
        if name.endswith(_SUFFIX) and not name.startswith("."):
            text = files.read(f"{folder}/{name}", cap=1 << 30) or ""
            try:
                found.append(msgspec.json.decode(text, type=ImportRecord))
            except (ValueError, msgspec.MsgspecError):
                continue
    return sorted(found, key=lambda record: (record.at, record.id))


def remove(store: Store, record: ImportRecord) -> None:
    """Remove the note of an import."""
    files.remove(_get_path(store, record.id))


def _get_path(store: Store, ident: str) -> str:
    return f"{store.local}/{_FOLDER}/{ident}{_SUFFIX}"
