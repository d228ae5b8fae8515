"""File modes: the user tier and local folders are for their owner alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from memfs import files
from memfs.files import trees
from memfs.store.store_paths import Store

_OTHERS = 0o077


def open_to_others(store: Store) -> list[str]:
    """List the private files and folders of a store that are open to others; no links.

    Folders of indexes are private themselves: libraries write into them with modes of their own.
    """
    if os.name == "nt":
        return []
    top = store.root if store.private else store.local
    listed = [(path, files.status(path)) for path in [top, *_list_below(top, store)]]
    return [path for path, status in listed if status and status.st_mode & _OTHERS]


def close(path: str) -> None:
    """Make a file or folder private to its owner."""
    found = files.status(path)
    if found is not None:
        trees.set_mode(path, stat.S_IMODE(found.st_mode) & ~_OTHERS)


def _list_below(top: str, store: Store) -> Iterator[str]:
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        indexes = (store.index, store.sources) if folder == store.local else ()
        inner = (".git", *map(os.path.basename, indexes))
        try:
            found = sorted(files.entries(folder))
        except OSError:
            continue
        yield from (f"{folder}/{name}" for name, _ in found)
        waiting += [f"{folder}/{n}" for n, is_folder in found if is_folder and n not in inner]
