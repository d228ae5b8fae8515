"""The open index of a loaded store, which follows what is published on the disk.

This module imports all that searches by meaning.
"""

from __future__ import annotations

import threading

from memfs.recall import prompts
from memfs.recall.answers import PromptRecall
from memfs.recall.index_session import IndexSession
from memfs.search import active_model
from memfs.search.engine import Engine
from memfs.store.blocks import Place


class StoreSession:
    """The open index of the store at a place, and those of its data sources.

    Nothing is open before the first `refresh`.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self.index = IndexSession(place)
        self.index.others.watched = True
        self.engine: Engine | None = None
        self.sources: list[Engine] = []
        self._published: object = None
        self._refreshing = threading.Lock()

    def recall(
        self, prompt: str, session: str, shown: list[str], limit: int
    ) -> PromptRecall | None:
        """Return the hits for a prompt; None if nothing is open yet."""
        if self.engine is None:
            return None
        return prompts.recall_warm(self.engine, prompt, session, shown, limit)

    def is_stale(self) -> bool:
        """Return whether newer indexes were published than the open ones."""
        return self._get_signature() != self._published

    def refresh(self) -> None:
        """Open the published index (see `LoadedStore.refresh`)."""
        with self._refreshing:
            signature = self._get_signature()
            if signature == self._published:
                return
            self._published = signature
            engine = self.index.get_engine("hybrid")
            sources = [each for _, each in self.index.others.list_open("hybrid")]
            for each in (engine, *sources):
                if each.vectors is not None:
                    each.vectors.warm(build=False)
            self.engine, self.sources = engine, sources

    def _get_signature(self) -> object:
        engine = self.engine
        name = engine.vectors.encoder.name if engine and engine.vectors else ""
        index = self._place.home.index
        own = active_model.get_signature(index, name), active_model.sign_graph(index, name)
        return *own, self.index.others.get_signature()
