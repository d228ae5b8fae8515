"""What is open of a store that the service holds: its index.

It follows what is published on the disk. All that searches by meaning is loaded with this file.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from memfs.recall import prompts
from memfs.recall.index_session import IndexSession
from memfs.search import active_model

if TYPE_CHECKING:
    from memfs.recall.answers import PromptRecall
    from memfs.search.engine import Engine
    from memfs.store.blocks import Place


class StoreSession:
    """What is open of the store at a place: nothing until it was refreshed once."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.kept = IndexSession(place)
        self.engine: Engine | None = None
        self._published: object = None
        self._refreshing = threading.Lock()

    def recall(
        self, prompt: str, session: str, shown: list[str], limit: int
    ) -> PromptRecall | None:
        """Return what a prompt brings to mind; None if nothing is open yet."""
        if self.engine is None:
            return None
        return prompts.recall_warm(self.engine, prompt, session, shown, limit)

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
            engine = self.kept.get_engine("hybrid")
            if engine.vectors is not None:
                engine.vectors.warm(build=False)
            self.engine = engine

    def _look(self) -> object:
        engine = self.engine
        name = engine.vectors.encoder.name if engine and engine.vectors else ""
        index = self._place.home.index
        return active_model.get_signature(index, name), active_model.sign_graph(index, name)
