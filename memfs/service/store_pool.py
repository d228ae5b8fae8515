"""The loaded stores of the service. The least recently used are released first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from memfs import files
from memfs.recall import prompts, source_recall
from memfs.recall.answers import PromptRecall
from memfs.search.prompt_bm25 import PromptHit
from memfs.store import store_paths
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from memfs.service.store_session import StoreSession

MOST = 12  # stores; the others are released, and loaded again when needed
LONGEST = 3600.0  # seconds that a store stays loaded after its last use


class LoadedStore:
    """A store with its open index. `place` has no session."""

    def __init__(self, place: Place) -> None:
        self.place = Place(place.project, place.user)
        self.used = time.monotonic()
        self._session: StoreSession | None = None
        self._opening = threading.Lock()

    @property
    def session(self) -> StoreSession:
        """Its session, made at the first use: importing what that needs takes 0.1 seconds."""
        with self._opening:
            if self._session is None:
                from memfs.service.store_session import StoreSession  # with all that searches

                self._session = StoreSession(self.place)
            return self._session

    def recall(self, place: Place, prompt: str, shown: list[str], limit: int) -> PromptRecall:
        """Return the hits for a prompt; by words alone until the index is open."""
        if self._session is not None:
            found = self._session.recall(prompt, place.session, shown, limit)
            if found is not None:
                return found
        return prompts.recall_by_words(place.home.index, prompt, place.session, shown, limit)

    def recall_sources(self, place: Place, prompt: str, shown: list[str]) -> list[PromptHit]:
        """Return the chunk of a data source for a prompt; by words alone until these are open."""
        if self._session is not None and self._session.engine is not None:
            return source_recall.recall_warm(self._session.sources, prompt, shown)
        return source_recall.recall_sources(place, prompt, shown)

    def is_stale(self) -> bool:
        """Return whether a newer index was published. Takes 20 microseconds."""
        return self._session is None or self._session.is_stale()

    def refresh(self) -> None:
        """Open the published index. Requests meanwhile use the previous one.

        Raises `MemfsError` or `OSError` if it cannot be opened: the next one that is published is
        tried again.
        """
        if not self.is_gone():
            self.session.refresh()

    def is_gone(self) -> bool:
        """Return whether the store was removed, or is not trusted any more."""
        project = self.place.project
        trusted = project is None or store_paths.is_trusted(project)
        return not trusted or not files.is_folder(self.place.home.root)


class StorePool:
    """All loaded stores. Calls `on_load` and `on_release` with a store. Thread-safe."""

    def __init__(
        self, on_load: Callable[[LoadedStore], object], on_release: Callable[[LoadedStore], object]
    ) -> None:
        self._on_load, self._on_release = on_load, on_release
        self._stores: dict[tuple[str, str, str], LoadedStore] = {}
        self._lock = threading.Lock()

    def for_place(self, place: Place) -> LoadedStore:
        """Return the store of a place, loading it if needed."""
        key = (place.home.root, place.home.local, place.user.root if place.user else "")
        with self._lock:
            found = self._stores.get(key)
            if found is None:
                found = self._stores[key] = LoadedStore(place)
                self._on_load(found)
            found.used = time.monotonic()
            while len(self._stores) > MOST:
                self._release(min(self._stores, key=lambda each: self._stores[each].used))
        return found

    def list_stores(self) -> list[LoadedStore]:
        with self._lock:
            return list(self._stores.values())

    def forget_old(self) -> None:
        """Release stores that were not used for `LONGEST` seconds, or that are gone."""
        least = time.monotonic() - LONGEST
        gone = {store for store in self.list_stores() if store.is_gone()}  # slow: without the lock
        with self._lock:
            for key, store in list(self._stores.items()):
                if store.used < least or store in gone:
                    self._release(key)

    def _release(self, key: tuple[str, str, str]) -> None:
        store = self._stores.pop(key)
        self._on_release(store)
