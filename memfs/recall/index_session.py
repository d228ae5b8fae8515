"""The index of a place, kept open between searches: for a process that asks more than once."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from memfs.core.errors import DamagedError, LockedError, StoreError
from memfs.files import signatures
from memfs.ingest import transcripts
from memfs.recall import index_sources, model_config
from memfs.recall.recall_snapshot import RecallSnapshot
from memfs.search import active_model
from memfs.store import lock, spool

if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.recall.model_config import WantedModel
    from memfs.search.engine import Engine, Mode
    from memfs.search.model_files import ModelFiles
    from memfs.store.blocks import Place

LOCK = "graph.lock"
Result = TypeVar("Result")


class IndexSession:
    """Gives an engine that knows all there is. What did not change is neither read nor opened."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._lock = threading.Lock()
        self._recall = RecallSnapshot(place.home)
        self._wanted: WantedModel | None = None
        self._signs: object = None  # what the configuration looked like that wants it
        self._engine: Engine | None = None
        self._opened_for: WantedModel | None = None
        self._published: object = None  # what the open index looked like
        self._indexed: object = None  # what the sources looked like that are in it
        self._embedded = False
        self._how = ""  # why words alone are searched, or the vectors of a former model
        self.note = ""  # that, and what may be missing

    def engine(self, mode: Mode) -> Engine:
        """Return the engine, after everything that is new went into its index.

        One without vectors, whatever the mode, if the model cannot be used: see `note`.
        """
        with self._lock:
            wanted = self._look_up()
            if wanted.off:
                mode = "text"
            if spool.list_notes(self.place.home):
                self._ingest()
            current = self._sync(wanted, embed=mode != "text")
            found = self._opened(wanted, mode)
            late = "" if current else "another process is indexing: the newest may be missing"
            self.note = "; ".join(filter(None, (self._how, late)))
            return found

    def ask(self, mode: Mode, use: Callable[[Engine], Result]) -> Result:
        """Return what is made of the engine; an index that is damaged is made anew for it, once."""
        try:
            return use(self.engine(mode))
        except DamagedError:
            index_sources.renew(self.place)
            with self._lock:
                self._engine = self._indexed = None
        return use(self.engine(mode))

    def opened(self, mode: Mode) -> Engine:
        """Return the engine of what is indexed by now; nothing goes into it."""
        with self._lock:
            wanted = self._look_up()
            return self._opened(wanted, "text" if wanted.off else mode)

    def model(self) -> WantedModel:
        """Return the embedding model that is configured."""
        with self._lock:
            return self._look_up()

    def _look_up(self) -> WantedModel:
        """Look which model is wanted, unless nothing changed that says so."""
        signs = model_config.list_signatures(self.place, self._wanted)
        if self._wanted is None or self._wanted.problem or signs != self._signs:
            self._wanted = model_config.load_wanted(self.place)
            self._signs = model_config.list_signatures(self.place, self._wanted)
        return self._wanted

    def warm(self, tick: Callable[[int], object] | None = None) -> None:
        """Get ready for many searches by meaning: open the graph of the vectors, or make it."""
        self.engine("hybrid")
        self.graph(tick)

    def graph(self, tick: Callable[[int], object] | None = None) -> None:
        """Open the graph of the vectors that are there, or make it."""
        vectors = self.opened("hybrid").vectors
        if vectors is not None:
            try:
                with lock.hold_lock(self.place.home, 0, LOCK):
                    vectors.warm(tick=tick)
            except LockedError:  # another process makes it
                vectors.warm(build=False)

    def _ingest(self) -> None:
        with suppress(LockedError):  # somebody ingests right now: search what there is
            transcripts.drain(self.place.home, transcripts.Tally())

    def _sync(self, wanted: WantedModel, *, embed: bool) -> bool:
        """Index what is new, unless the sources, the index and the model are the same ones.

        False if another process is at it, and not done with it in two seconds.
        """
        listed = index_sources.sources(self.place, ())
        model = wanted.files.name if wanted.files else ""
        others = [(source.path, signatures.sign_file(source.path)) for source in listed]
        seen = (model, self._recall.look(), others)
        same = (seen, self._look()) == (self._indexed, self._published)
        if same and (self._embedded or not embed):
            return True
        if index_sources.sync(self.place, embed=embed, wait=2.0) is None:
            return False
        self._indexed = seen
        self._embedded = embed
        return True

    def _opened(self, wanted: WantedModel, mode: Mode) -> Engine:
        """Open the index, or open it again if more was published since, or by another model."""
        found, published = self._engine, self._look()
        plain = found is None or found.vectors is None
        stale = published != self._published or wanted is not self._opened_for
        if found is None or stale or (plain and mode != "text"):
            files = None if plain and mode == "text" else self._searched(wanted)
            if found and found.vectors and files and found.vectors.encoder.name == files.name:
                found = found.follow(self.place.home.index)
            else:
                found = self._open(files)
            self._engine, self._opened_for = found, wanted
            self._published = self._look()
        return found

    def _searched(self, wanted: WantedModel) -> ModelFiles | None:
        """Return the model whose vectors are searched, and note why it is not the wanted one."""
        found = model_config.get_searched(self.place.home.index, wanted)
        self._how, name = "", wanted.model.name
        if wanted.problem:
            how = "by the vectors of the former model" if found else "by words alone"
            self._how = f"searched {how}: {wanted.problem.message} ({wanted.problem.hint})"
        elif found is None and not wanted.off:
            self._how = f"searched by words alone until memfs ingest has made the vectors of {name}"
        elif found and wanted.files and found.name != wanted.files.name:
            self._how = f"searched by the former model until memfs ingest has made those of {name}"
        return found

    def _open(self, files: ModelFiles | None) -> Engine:
        try:
            return index_sources.open_index(self.place, files)
        except StoreError as error:
            if files is None:
                raise
            self._how = f"searched by words alone: {error.message} ({error.hint})"
            return index_sources.open_index(self.place, None)

    def _look(self) -> object:
        vectors = self._engine.vectors if self._engine else None
        name = vectors.encoder.name if vectors else ""
        return active_model.get_signature(self.place.home.index, name)
