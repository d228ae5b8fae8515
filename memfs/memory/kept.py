"""The index of a place, kept open between searches: for a process that asks more than once."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from memfs.core.errors import LockedError
from memfs.memory import corpus
from memfs.search import catalog
from memfs.store import inbox, lock

if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.search.engine import Engine, Mode
    from memfs.store.blocks import Place

LOCK = "graph.lock"


class Kept:
    """Gives an engine that knows all there is. What did not change is neither read nor opened."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._published: object = None  # what the open index looked like
        self._indexed: object = None  # what the sources looked like that are in it
        self._embedded = False

    def engine(self, mode: Mode) -> Engine:
        """Return the engine, after everything that is new went into its index."""
        with self._lock:
            if inbox.waiting(self._place.home):
                self._ingest()
            self._sync(embed=mode != "text")
            return self._opened(mode)

    def warm(self, tick: Callable[[int], object] | None = None) -> None:
        """Get ready for many searches by meaning: open the graph of the vectors, or make it."""
        vectors = self.engine("hybrid").vectors
        if vectors is not None:
            try:
                with lock.hold(self._place.home, 0, LOCK):
                    vectors.warm(tick=tick)
            except LockedError:  # another process makes it
                vectors.warm(build=False)

    def _ingest(self) -> None:
        from memfs.memory import intake  # with all that knows secrets: 15 ms

        with suppress(LockedError):  # somebody ingests right now: search what there is
            intake.drain(self._place.home, intake.Tally())

    def _sync(self, *, embed: bool) -> None:
        """Index what is new, unless neither the sources nor the index are other ones."""
        listed = corpus.sources(self._place)
        seen = [(source.path, catalog.sign(source.path)) for source in listed]
        same = (seen, self._look()) == (self._indexed, self._published)
        if same and (self._embedded or not embed):
            return
        done = corpus.sync(self._place, embed=embed, wait=2.0)
        if done is not None:
            self._indexed = seen
            self._embedded = embed

    def _opened(self, mode: Mode) -> Engine:
        """Open the index, or open it again if more was published since."""
        published = self._look()
        found = self._engine
        if found is None or (found.vectors is None and mode != "text"):
            found = corpus.open_index(self._place, mode)
        elif published != self._published:
            found = found.follow(self._place.home.index)
        self._engine, self._published = found, published
        return found

    def _look(self) -> tuple[object, object]:
        from memfs.search import engine

        return engine.published(self._place.home.index)
