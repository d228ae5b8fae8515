"""When a block was read last: the time of an empty file for each. It may be lost."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

from memfs import files
from memfs.files import atomic
from memfs.store import clock, local_folder, store_paths
from memfs.store.store_paths import Store

_FOLDER = "read"


def note_read(store: Store, tier: str, label: str) -> None:
    """Note that a block is read now. Ignores errors of the disk."""
    with suppress(OSError):
        local_folder.make(store)
        files.make_folder(f"{store.local}/{_FOLDER}", private=True, durable=False)
        atomic.touch(_path(store, tier, label), clock.seconds())


def get_last_read(store: Store, tier: str, label: str) -> str:
    """Return when a block was read last (UTC, ISO 8601), "" if not known."""
    found = files.status(_path(store, tier, label))
    if found is None:
        return ""
    return datetime.fromtimestamp(found.st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _path(store: Store, tier: str, label: str) -> str:
    return f"{store.local}/{_FOLDER}/{store_paths.file_name(f'{tier}:{label}')}"
