"""Watches the files of data sources: what changes is indexed in the background.

The user's own sources serve all stores, and are watched once. Files that a source names by
themselves are not watched, since their folder may be a home: `update` looks at them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from memfs import files
from memfs.files import signatures
from memfs.service.watch import FolderWatch
from memfs.store import data_sources
from memfs.store.data_sources import DataSource

if TYPE_CHECKING:
    from memfs.service.store_pool import LoadedStore

_RULE_FILES = (".gitignore", ".memfsignore")  # hidden, and they decide on other files


class WatchedSource(NamedTuple):
    """The key by which a source is watched: its index, and its folders."""

    path: str
    folders: tuple[str, ...]


class SourceWatch:
    """Watches the sources of loaded stores. Calls `queue` with a store whose sources changed."""

    def __init__(self, watch: FolderWatch, queue: Callable[[LoadedStore], object]) -> None:
        self._watch, self._queue = watch, queue
        self._keys: dict[LoadedStore, set[WatchedSource]] = {}
        self._files: dict[str, object] = {}  # signatures of single files, by path
        self._lock = threading.Lock()

    def update(self, store: LoadedStore) -> None:
        """Watch the sources that a store has now, and index what is not watched if it changed."""
        sources = data_sources.list_sources(store.place)
        folders = {source: _list_folders(source) for source in sources}
        self._set_keys(store, {WatchedSource(s.index, each) for s, each in folders.items() if each})
        single = {path for s, found in folders.items() for path in s.paths if path not in found}
        signed = {path: signatures.sign_file(path) for path in single}
        changed = any(self._files.get(path) != sign for path, sign in signed.items())
        self._files |= signed
        if changed or not all(files.is_folder(source.index) for source in sources):
            self._queue(store)

    def remove(self, store: LoadedStore) -> None:
        """Stop watching what only this store has."""
        self._set_keys(store, None)

    def queue_changes(self, key: WatchedSource, paths: set[str]) -> None:
        """Queue the work for changed paths, none: for all of a source. Hidden ones do not count."""
        if paths and all(_is_hidden(path, key.folders) for path in paths):
            return
        with self._lock:
            store = next((store for store, keys in self._keys.items() if key in keys), None)
        if store is not None:
            self._queue(store)

    def _set_keys(self, store: LoadedStore, keys: set[WatchedSource] | None) -> None:
        with self._lock:
            before = set().union(*self._keys.values())
            self._keys.pop(store, None)
            if keys is not None:
                self._keys[store] = keys
            after = set().union(*self._keys.values())
        for key in after - before:
            self._watch.add(key, partial(tuple, key.folders))
        for key in before - after:
            self._watch.remove(key)


def _list_folders(source: DataSource) -> tuple[str, ...]:
    """Return the paths of a source that are folders, or may become some."""
    return tuple(path for path in source.paths if os.path.isdir(path) or not os.path.exists(path))


def _is_hidden(path: str, folders: tuple[str, ...]) -> bool:
    """Tell whether a changed path is in a hidden folder of the watched ones, or hidden itself."""
    if os.path.basename(path) in _RULE_FILES:
        return False
    inside = next((path[len(top) :] for top in folders if files.is_below(path, top)), "")
    return any(part.startswith(".") for part in inside.split("/"))
