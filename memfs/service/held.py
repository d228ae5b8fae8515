"""The stores that the service holds: their indexes stay open, and what asks last stays longest."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from memfs.core.errors import StoreError
from memfs.memory import reminding
from memfs.memory.flow import database
from memfs.memory.flow.graph import Graph
from memfs.memory.kept import Kept
from memfs.search import catalog, encoder, reminder, serving
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memfs.ops.brief import Recalled
    from memfs.search.engine import Engine

MOST = 12  # stores; more are let go of, and opened again when somebody asks
LONGEST = 3600.0  # seconds that a store is held after it was asked for


class Held:
    """One store, with its index open. `place` is that of no session."""

    def __init__(self, place: Place) -> None:
        self.place = Place(place.project, place.user)
        self.kept = Kept(self.place)
        self.used = time.monotonic()
        self._engine: Engine | None = None
        self._flows: Graph | None = None
        self._published: object = None
        self._refreshing = threading.Lock()

    def recall(self, place: Place, prompt: str, shown: list[str], limit: int) -> Sequence[Recalled]:
        """Return what a prompt brings to mind; by words alone until all is open."""
        engine = self._engine
        if engine is None:
            return reminder.remind(place.home.index, prompt, place.session, shown, limit)
        return reminding.find(engine, self._flows, prompt, place.session, shown, limit)

    def stale(self) -> bool:
        """Tell whether more was published than is open. Takes 20 microseconds."""
        return self._look() != self._published

    def refresh(self) -> None:
        """Open what was published. Nobody who asks meanwhile waits for it.

        Raises `MemfsError` or `OSError` if it cannot be opened: then it is tried again with what is
        published next.
        """
        with self._refreshing:
            looked = self._look()
            if looked == self._published or self.gone():
                return
            self._published = looked
            engine = self.kept.opened("hybrid")
            if engine.vectors is not None:
                engine.vectors.warm(build=False)
                try:
                    self._flows = self._followed()
                except StoreError:  # it is just being made: the next prompt has it tried again
                    self._flows = self._published = None
            self._engine = engine

    def _followed(self) -> Graph | None:
        """Return the graph of past sessions, opened again if another took its place."""
        if self._flows is not None and self._flows.current():
            return self._flows
        self._flows = None  # closed when nobody asks it any more
        folder = self.place.home.index
        return (
            Graph(folder, encoder.bundled())
            if os.path.exists(f"{folder}/{database.FILE}")
            else None
        )

    def close(self) -> None:
        """Let go of what is kept open of it; who asks it just now is answered."""
        self._flows = None

    def gone(self) -> bool:
        """Tell whether the store was removed."""
        return not os.path.isdir(self.place.home.root)

    def _look(self) -> object:
        engine = self._engine
        name = engine.vectors.encoder.name if engine and engine.vectors else ""
        index = self.place.home.index
        flows = catalog.sign(f"{index}/{database.FILE}")
        inode = flows.inode if flows else 0
        return serving.published(index, name), serving.graphed(index, name), inode


class Stores:
    """All that are held. `met` is called with each one that is new."""

    def __init__(self, met: Callable[[Held], object], gone: Callable[[Held], object]) -> None:
        self._met, self._gone = met, gone
        self._held: dict[tuple[str, str], Held] = {}
        self._lock = threading.Lock()

    def of(self, place: Place) -> Held:
        """Return the store of a place, held from now on."""
        key = (place.home.root, place.user.root if place.user else "")
        with self._lock:
            found = self._held.get(key)
            if found is None:
                found = self._held[key] = Held(place)
                self._met(found)
            found.used = time.monotonic()
            while len(self._held) > MOST:
                self._drop(min(self._held, key=lambda each: self._held[each].used))
        return found

    def all(self) -> list[Held]:
        with self._lock:
            return list(self._held.values())

    def forget_old(self) -> None:
        """Let go of stores that nobody asked for in a long time, or that are gone."""
        now = time.monotonic()
        with self._lock:
            for key, held in list(self._held.items()):
                if now - held.used > LONGEST or held.gone():
                    self._drop(key)

    def _drop(self, key: tuple[str, str]) -> None:
        held = self._held.pop(key)
        self._gone(held)
        held.close()
