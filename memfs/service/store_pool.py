"""The open stores of the service. The least recently used are released first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from memfs import files
from memfs.recall.open_store import OpenStore
from memfs.store import store_paths
from memfs.store.blocks import Place

MOST = 12  # stores; the others are released, and opened again when needed
LONGEST = 3600.0  # seconds that a store stays open after its last use


class StorePool:
    """All open stores. Calls `on_open` and `on_release` with a store. Thread-safe."""

    def __init__(
        self, on_open: Callable[[OpenStore], object], on_release: Callable[[OpenStore], object]
    ) -> None:
        self._on_open, self._on_release = on_open, on_release
        self._stores: dict[tuple[str, str, str], OpenStore] = {}
        self._used: dict[OpenStore, float] = {}  # monotonic times
        self._lock = threading.Lock()

    def for_place(self, place: Place) -> OpenStore:
        """Return the store of a place, without its session. Its indexes may not be open yet."""
        key = (place.home.root, place.home.local, place.user.root if place.user else "")
        with self._lock:
            found = self._stores.get(key)
            if found is None:
                found = OpenStore(Place(place.project, place.user), watched=True)
                self._stores[key] = found
                self._on_open(found)
            self._used[found] = time.monotonic()
            while len(self._stores) > MOST:
                self._release(min(self._stores, key=lambda each: self._used[self._stores[each]]))
        return found

    def list_stores(self) -> list[OpenStore]:
        with self._lock:
            return list(self._stores.values())

    def refresh(self, store: OpenStore) -> None:
        """Open the published indexes of a store, unless it is gone. Raises as `OpenStore.refresh`.

        What cannot be opened is tried again once a newer index is published.
        """
        if not is_gone(store):
            store.refresh()

    def release_unused(self) -> None:
        """Release stores that were not used for `LONGEST` seconds, or that are gone."""
        least = time.monotonic() - LONGEST
        gone = {store for store in self.list_stores() if is_gone(store)}  # slow: without the lock
        with self._lock:
            for key, store in list(self._stores.items()):
                if self._used[store] < least or store in gone:
                    self._release(key)

    def _release(self, key: tuple[str, str, str]) -> None:
        store = self._stores.pop(key)
        del self._used[store]
        self._on_release(store)


def is_gone(store: OpenStore) -> bool:
    """Return whether a store was removed, or is not trusted any more.

    It stays open for long, so that the disk is asked: it may have been trusted when it was opened.
    """
    project = store.place.project
    trusted = project is None or store_paths.is_trusted(project)
    return not trusted or not files.is_folder(store.place.home.root)
