"""What is open of a store that the service holds: its index, and the graph of past sessions.

It follows what is published on the disk. All that searches by meaning is loaded with this file.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from memfs import files
from memfs.core.errors import StoreError
from memfs.memory import reminding
from memfs.memory.flow import database
from memfs.memory.flow.graph import Graph
from memfs.memory.kept import Kept
from memfs.search import catalog, encoder, serving

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.ops.brief import Recalled
    from memfs.search.engine import Engine
    from memfs.store.blocks import Place


class Opened:
    """What is open of the store at a place: nothing until it was refreshed once."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.kept = Kept(place)
        self.engine: Engine | None = None
        self._flows: Graph | None = None
        self._published: object = None
        self._refreshing = threading.Lock()

    def recall(
        self, prompt: str, session: str, shown: list[str], limit: int
    ) -> Sequence[Recalled] | None:
        """Return what a prompt brings to mind; None if nothing is open yet."""
        if self.engine is None:
            return None
        return reminding.find(self.engine, self._flows, prompt, session, shown, limit)

    def stale(self) -> bool:
        """Tell whether more was published than is open."""
        return self._look() != self._published

    def refresh(self) -> None:
        """Open what was published (see `Held.refresh`)."""
        with self._refreshing:
            looked = self._look()
            if looked == self._published:
                return
            self._published = looked
            engine = self.kept.opened("hybrid")
            if engine.vectors is not None:
                engine.vectors.warm(build=False)
                try:
                    self._flows = self._followed()
                except StoreError:  # it is just being made: the next prompt has it tried again
                    self._flows = self._published = None
            self.engine = engine

    def close(self) -> None:
        """Let go of the graph, which has a file open."""
        self._flows = None

    def _followed(self) -> Graph | None:
        """Return the graph of past sessions, opened again if another took its place."""
        if self._flows is not None and self._flows.current():
            return self._flows
        self._flows = None  # closed when nobody asks it any more
        folder = self._place.home.index
        return (
            Graph(folder, encoder.bundled()) if files.is_file(f"{folder}/{database.FILE}") else None
        )

    def _look(self) -> object:
        engine = self.engine
        name = engine.vectors.encoder.name if engine and engine.vectors else ""
        index = self._place.home.index
        flows = catalog.sign(f"{index}/{database.FILE}")
        inode = flows.inode if flows else 0
        return serving.published(index, name), serving.graphed(index, name), inode
