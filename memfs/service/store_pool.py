"""The stores that the service holds: those asked for last stay longest (see `store_session`)."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from memfs import files
from memfs.recall import prompts
from memfs.store import store_paths
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.recall.answers import PromptRecall
    from memfs.service.store_session import StoreSession  # with all that searches

MOST = 12  # stores; more are let go of, and opened again when somebody asks
LONGEST = 3600.0  # seconds that a store is held after it was asked for


class LoadedStore:
    """One store. `place` is that of no session."""

    def __init__(self, place: Place) -> None:
        self.place = Place(place.project, place.user)
        self.used = time.monotonic()
        self._opened: StoreSession | None = None
        self._opening = threading.Lock()

    @property
    def opened(self) -> StoreSession:
        """What is open of it, from now on. What that needs is loaded first: a tenth of a second."""
        with self._opening:
            if self._opened is None:
                from memfs.service.store_session import StoreSession  # with all that searches

                self._opened = StoreSession(self.place)
            return self._opened

    def recall(self, place: Place, prompt: str, shown: list[str], limit: int) -> PromptRecall:
        """Return what a prompt brings to mind; by words alone until all is open."""
        if self._opened is not None:
            found = self._opened.recall(prompt, place.session, shown, limit)
            if found is not None:
                return found
        return prompts.recall_by_words(place.home.index, prompt, place.session, shown, limit)

    def stale(self) -> bool:
        """Tell whether more was published than is open. Takes 20 microseconds."""
        return self._opened is None or self._opened.stale()

    def refresh(self) -> None:
        """Open what was published. Nobody who asks meanwhile waits for it.

        Raises `MemfsError` or `OSError` if it cannot be opened: then it is tried again with what is
        published next.
        """
        if not self.gone():
            self.opened.refresh()

    def gone(self) -> bool:
        """Tell whether the store was removed, or is not trusted any more."""
        project = self.place.project
        trusted = project is None or store_paths.is_trusted(project)
        return not trusted or not files.is_folder(self.place.home.root)


class StorePool:
    """All that are held. `met` is called with each one that is new."""

    def __init__(
        self, met: Callable[[LoadedStore], object], gone: Callable[[LoadedStore], object]
    ) -> None:
        self._met, self._gone = met, gone
        self._held: dict[tuple[str, str], LoadedStore] = {}
        self._lock = threading.Lock()

    def of(self, place: Place) -> LoadedStore:
        """Return the store of a place, held from now on."""
        key = (place.home.root, place.user.root if place.user else "")
        with self._lock:
            found = self._held.get(key)
            if found is None:
                found = self._held[key] = LoadedStore(place)
                self._met(found)
            found.used = time.monotonic()
            while len(self._held) > MOST:
                self._drop(min(self._held, key=lambda each: self._held[each].used))
        return found

    def all(self) -> list[LoadedStore]:
        with self._lock:
            return list(self._held.values())

    def forget_old(self) -> None:
        """Let go of stores that nobody asked for in a long time, or that are gone."""
        least = time.monotonic() - LONGEST
        gone = {held for held in self.all() if held.gone()}  # who asks does not wait for that
        with self._lock:
            for key, held in list(self._held.items()):
                if held.used < least or held in gone:
                    self._drop(key)

    def _drop(self, key: tuple[str, str]) -> None:
        held = self._held.pop(key)
        self._gone(held)
