"""The index of a place, kept open between searches, and a snapshot of what it was made from."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from memfs import files
from memfs.core.errors import DamagedError, LockedError, StoreError
from memfs.files import signatures
from memfs.files.signatures import Signature
from memfs.ingest import transcripts
from memfs.recall import index_sources, model_config
from memfs.recall.federated_indexes import FederatedIndexes
from memfs.recall.index_sources import Stage
from memfs.recall.model_config import WantedModel
from memfs.search import active_model
from memfs.search.engine import Engine, Mode
from memfs.search.model_files import ModelFiles
from memfs.store import lock, recall, spool
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

Signs = list[tuple[str, Signature | None]]

_AGAIN = 1.0  # seconds after which all signatures are read
_LATEST = 16  # files whose signatures are read each time
_SETTLED = 3.0  # seconds; two changes closer together may leave the same signature

LOCK = "graph.lock"
Result = TypeVar("Result")


class IndexSession:
    """Provides an engine over the current index. Unchanged files are not read again.

    `others` are the indexes that are searched together with it.
    """

    def __init__(self, place: Place, stage: Stage | None = None) -> None:
        """`stage` shows the progress of indexing (see `index_sources.sync`)."""
        self.place = place
        self.others = FederatedIndexes(place, self._open_chats, stage)
        self._chats: IndexSession | None = None  # of the user's own store
        self._stage = stage
        self._lock = threading.Lock()
        self._recall = RecallSnapshot(place.home)
        self._model: WantedModel | None = None
        self._signatures: object = None  # signatures of its configuration
        self._engine: Engine | None = None
        self._engine_model: WantedModel | None = None
        self._published: object = None  # signature of the open index
        self._indexed: object = None  # signatures of the indexed sources
        self._embedded = False
        self._note = ""  # why the configured model is not used
        self.note = ""  # for the user: that, and whether messages may be missing

    def engine(self, mode: Mode) -> Engine:
        """Ingest and index what is new, and return the engine.

        It has no vectors, whatever the mode, if the model cannot be used: see `note`.
        """
        with self._lock:
            model = self._load_model()
            if model.off:
                mode = "text"
            notice = self._update(model, embed=mode != "text")
            found = self._refresh_engine(model, mode)
            self.note = "; ".join(filter(None, (self._note, notice)))
            return found

    def close(self) -> None:
        """Close the index and its files; the next search opens them again."""
        with self._lock:
            self._engine = self._engine_model = self._published = self._indexed = None
            self._embedded = False
        self.others.close()
        self._chats = None

    def ask(self, mode: Mode, use: Callable[[Engine], Result]) -> Result:
        """Return the result of `use` on the engine; a damaged index is rebuilt, once."""
        try:
            return use(self.engine(mode))
        except DamagedError:
            index_sources.renew(self.place)
            with self._lock:
                self._engine = self._indexed = None
        return use(self.engine(mode))

    def get_engine(self, mode: Mode) -> Engine:
        """Return the engine of the index as it is. Indexes nothing."""
        with self._lock:
            model = self._load_model()
            return self._refresh_engine(model, "text" if model.off else mode)

    def model(self) -> WantedModel:
        """Return the configured embedding model."""
        with self._lock:
            return self._load_model()

    def _open_chats(self, mode: Mode) -> Engine:
        """Return the engine of the user's own store, with what is new in it."""
        if self._chats is None:
            self._chats = IndexSession(Place(None, self.place.user), self._stage)
        return self._chats.ask(mode, lambda engine: engine)

    def _load_model(self) -> WantedModel:
        """Return the configured model; it is loaded again if its configuration changed."""
        signatures = model_config.list_signatures(self.place, self._model)
        if self._model is None or self._model.problem or signatures != self._signatures:
            self._model = model_config.load_wanted_model(self.place)
            self._signatures = model_config.list_signatures(self.place, self._model)
        return self._model

    def warm(self, tick: Callable[[int], object] | None = None) -> None:
        """Prepare for many searches by meaning: open the graph of the vectors, or build it."""
        self.engine("hybrid")
        self.load_graph(tick)

    def load_graph(self, tick: Callable[[int], object] | None = None) -> None:
        """Open the graph of the current vectors, or build it. Indexes nothing."""
        vectors = self.get_engine("hybrid").vectors
        if vectors is not None:
            try:
                with lock.hold_lock(self.place.home, 0, LOCK):
                    vectors.warm(tick=tick)
            except LockedError:  # another process builds it
                vectors.warm(build=False)

    def _update(self, model: WantedModel, *, embed: bool) -> str:
        """Ingest and index what is new; return why something may be missing, else ""."""
        try:
            if spool.list_notes(self.place.home):
                self._ingest()
            current = self._sync(model, embed=embed)
        except OSError as error:
            if error.errno != errno.EROFS or not files.is_folder(self.place.home.index):
                raise
            return "the disk is read-only: what is new since it was indexed is not found"
        return "" if current else "another process is indexing: the newest may be missing"

    def _ingest(self) -> None:
        with suppress(LockedError):  # another process ingests: search the current index
            transcripts.drain(self.place.home, transcripts.Tally())

    def _sync(self, model: WantedModel, *, embed: bool) -> bool:
        """Index what is new, unless sources, index and model are unchanged.

        False if another process is indexing, and not done in two seconds.
        """
        listed = index_sources.sources(self.place, ())
        name = model.files.name if model.files else ""
        others = [(source.path, signatures.sign_file(source.path)) for source in listed]
        seen = (name, self._recall.list_files(), others)
        same = (seen, self._sign_index()) == (self._indexed, self._published)
        if same and (self._embedded or not embed):
            return True
        done = index_sources.sync(
            self.place, embed=embed, wait=2.0, stage=self._stage, rebuild=False
        )
        if done is None:
            return False
        self._indexed = seen
        self._embedded = embed
        return True

    def _refresh_engine(self, model: WantedModel, mode: Mode) -> Engine:
        """Return the engine; the index is opened again after a publication or a change of model."""
        found, published = self._engine, self._sign_index()
        plain = found is None or found.vectors is None
        stale = published != self._published or model is not self._engine_model
        if found is None or stale or (plain and mode != "text"):
            files = None if plain and mode == "text" else self._select_model(model)
            if found and found.vectors and files and found.vectors.encoder.name == files.name:
                found = found.reopen(self.place.home.index)
            else:
                found = self._open_engine(files)
            self._engine, self._engine_model = found, model
            self._published = self._sign_index()
        return found

    def _select_model(self, model: WantedModel) -> ModelFiles | None:
        """Return the model whose vectors are searched; note why it is not the configured one."""
        found = model_config.get_active_model(self.place.home.index, model)
        self._note, name = "", model.model.name
        if model.problem:
            how = "by the vectors of the former model" if found else "by words alone"
            self._note = f"searched {how}: {model.problem.message} ({model.problem.hint})"
        elif found is None and not model.off:
            self._note = (
                f"searched by words alone until memfs ingest has made the vectors of {name}"
            )
        elif found and model.files and found.name != model.files.name:
            self._note = f"searched by the former model until memfs ingest has made those of {name}"
        return found

    def _open_engine(self, files: ModelFiles | None) -> Engine:
        try:
            return index_sources.open_index(self.place, files)
        except StoreError as error:
            if files is None:
                raise
            self._note = f"searched by words alone: {error.message} ({error.hint})"
            return index_sources.open_index(self.place, None)

    def _sign_index(self) -> object:
        vectors = self._engine.vectors if self._engine else None
        name = vectors.encoder.name if vectors else ""
        return active_model.get_signature(self.place.home.index, name)


class RecallSnapshot:
    """The recall files of a store with their signatures."""

    def __init__(self, store: Store, again: float = 0.0) -> None:
        """`again` is the number of seconds after which all signatures are read; 0: usual."""
        self._store, self._again = store, again or _AGAIN
        self._top = f"{store.local}/recall"
        self._folders: Signs = []
        self._files: Signs = []
        self._latest: Signs = []
        self._expiry = 0.0  # until this monotonic time

    def list_files(self) -> Signs:
        """Return all files, sorted, with their signatures."""
        known = (self._folders, self._latest)
        if time.monotonic() >= self._expiry or any(_sign_again(each) != each for each in known):
            self._refresh()
        return self._files

    def _refresh(self) -> None:
        self._expiry = time.monotonic() + self._again
        now = time.time_ns()
        self._folders = _sign_paths([self._top])
        self._folders += _sign_paths([f"{self._top}/{name}" for name in _list_hosts(self._top)])
        self._files = _sign_paths(recall.sources(self._store))
        latest = sorted(self._files, key=lambda each: -each[1].modified if each[1] else 0)
        self._latest = latest[:_LATEST]
        if any(sign and now - sign.modified < _SETTLED * 1e9 for _, sign in self._folders):
            self._expiry = 0.0


def _list_hosts(top: str) -> list[str]:
    """List the folders of recall, one for each host."""
    if not files.is_folder(top):
        return []
    return [name for name, is_folder in files.entries(top) if is_folder]


def _sign_again(known: Signs) -> Signs:
    return _sign_paths([path for path, _ in known])


def _sign_paths(paths: list[str]) -> Signs:
    return [(path, signatures.sign_file(path)) for path in paths]
