"""The indexes of a place that stay open between searches: its own, its data sources', its chats'.

Imported chats belong to no project: they are in the user's own store.
"""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from memfs import files, hosts
from memfs.core.errors import DamagedError, LockedError, StoreError
from memfs.files import signatures
from memfs.recall import index_sources, model_config
from memfs.recall.model_config import WantedModel
from memfs.recall.recall_snapshot import RecallSnapshot
from memfs.search import active_model
from memfs.search.engine import Engine, IndexSearch
from memfs.search.federated_search import MESSAGE, list_source_kinds
from memfs.search.model_files import ModelFiles
from memfs.search.request import Filter, Mode
from memfs.store import data_sources, lock, spool
from memfs.store.blocks import Place
from memfs.store.data_sources import DataSource
from memfs.store.store_paths import Store

if TYPE_CHECKING:
    from memfs.recall.gone_files import GoneFiles
    from memfs.recall.index_sources import Stage

Result = TypeVar("Result")

_AGAIN = 10.0  # times what a look at a source's files took: so long its result counts
_LISTED = 1.0  # seconds that the list of what is configured counts
_BUSY = "another process is indexing the source '{}', so its newest texts may be missing"


@dataclass(eq=False)
class OpenIndex:
    """An index folder with its engine. `note` says why it is searched by words alone."""

    store: Store
    folder: str
    engine: Engine | None = None
    note: str = ""
    _published: object = None  # signature of what is open

    def is_current(self, mode: Mode) -> bool:
        """Tell whether what is open is what is published, and can be searched in a mode."""
        engine = self.engine
        is_able = engine is not None and (mode == "text" or engine.vectors is not None)
        return is_able and self.sign() == self._published

    def sign(self) -> object:
        return active_model.get_signature(self.folder, self._get_model())

    def sign_graph(self) -> object:
        return active_model.sign_graph(self.folder, self._get_model())

    def open(self, model: ModelFiles | None) -> Engine:
        """Open what is published, with the vectors of a model, or by words alone."""
        before, self.engine, self.note = self.engine, None, ""
        vectors = before.vectors if before else None
        try:
            if before and vectors and model and vectors.encoder.name == model.name:
                found = before.reopen(self.folder)
            else:
                found = index_sources.open_engine(self.store, self.folder, model)
        except DamagedError:
            raise
        except StoreError as error:
            if model is None:
                raise
            self.note = f"searched by words alone, because {error.message}; {error.hint}"
            found = index_sources.open_engine(self.store, self.folder, None)
        self.engine = found
        self._published = self.sign()
        return found

    def _get_model(self) -> str:
        vectors = self.engine.vectors if self.engine else None
        return vectors.encoder.name if vectors else ""


@dataclass(eq=False)
class _SourceIndex(OpenIndex):
    """The index of a data source. Until `expiry` its files are not looked at again."""

    source: DataSource = field(kw_only=True)
    expiry: float = 0.0
    busy: bool = False


class OpenStore:
    """The open indexes of a place. Unchanged files are not read again. Thread-safe.

    `note` is for the user: how was searched, and whether messages may be missing; `source_note`
    the same of data sources. `engines` are those for prompts: the store's own, then the sources'.
    `gone` are the files of the project that are gone, None where that is not known.
    """

    def __init__(self, place: Place, stage: Stage | None = None, *, watched: bool = False) -> None:
        """`stage` as for `index_sources.sync`; `watched`: the service indexes the sources."""
        self.place, self.watched = place, watched
        self.note = self.source_note = ""
        self.engines: list[Engine] = []
        self.gone: GoneFiles | None = None
        self._stage = stage
        self._own = OpenIndex(place.home, place.home.index)
        self._chats: OpenStore | None = None  # of the user's own store
        self._lock = threading.Lock()
        self._snapshot = RecallSnapshot(place.home)
        self._model: WantedModel | None = None
        self._model_signatures: object = None  # of its configuration
        self._opened_model: WantedModel | None = None
        self._model_note = ""  # why the configured model is not used
        self._indexed: object = None  # signatures of the indexed sources
        self._embedded = False
        self._sources: dict[str, _SourceIndex] = {}  # by folder of the index
        self._configured: list[DataSource] = []
        self._chat_hosts: tuple[str, ...] = ()
        self._configured_until = 0.0  # a monotonic time: then both are looked up again
        self._sources_lock = threading.Lock()
        self._refreshed: object = None  # signature of `engines`
        self._refreshing = threading.Lock()

    def is_stale(self) -> bool:
        return self._sign_all() != self._refreshed

    def refresh(self) -> None:
        """Open the published indexes for prompts; index nothing. Raises `MemfsError`, `OSError`."""
        from memfs.recall import gone_files  # with patterns, which a search needs not

        with self._refreshing:
            signature = self._sign_all()
            if signature == self._refreshed:
                return
            self._refreshed = signature
            engines = [self.get_engine("hybrid")]
            engines += [engine for _, engine in self.list_sources("hybrid")]
            for each in engines:
                if each.vectors is not None:
                    each.vectors.warm(build=False)
            self.engines = engines
            listed = self._list_configured()
            commits = next((each for each in listed if each.kind == data_sources.COMMITS), None)
            self.gone = gone_files.load(commits) if commits else None

    def _sign_all(self) -> object:
        from memfs.recall import gone_files  # likewise

        sources = [
            (source, (self._sources.get(source.index) or self._make_source(source)).sign())
            for source in self._list_configured()
        ]
        signed = [(source.index, sign, gone_files.sign(source)) for source, sign in sources]
        return self._own.sign(), self._own.sign_graph(), signed

    def update_engine(self, mode: Mode) -> Engine:
        """Index what is new, and return the own engine, without vectors where `note` says so."""
        with self._lock:
            model = self._load_model()
            if model.off:
                mode = "text"
            notice = self._update(model, embed=mode != "text")
            found = self._open_own(model, mode)
            told = (self._own.note or self._model_note, notice)
            self.note = "; ".join(filter(None, told))
            return found

    def get_engine(self, mode: Mode) -> Engine:
        """Return the engine of the index as it is. Indexes nothing."""
        with self._lock:
            model = self._load_model()
            return self._open_own(model, "text" if model.off else mode)

    def ask(self, mode: Mode, use: Callable[[Engine], Result]) -> Result:
        """Return the result of `use` on the engine; a damaged index is rebuilt, once."""
        try:
            return use(self.update_engine(mode))
        except DamagedError:
            index_sources.renew(self.place)
            with self._lock:
                self._own.engine = self._indexed = None
        return use(self.update_engine(mode))

    def load_model(self) -> WantedModel:
        with self._lock:
            return self._load_model()

    def warm(self, tick: Callable[[int], object] | None = None) -> None:
        """Prepare for many searches by meaning: open the graph of the vectors, or build it."""
        self.update_engine("hybrid")
        self.load_graph(tick)

    def load_graph(self, tick: Callable[[int], object] | None = None) -> None:
        """Open the graph of the current vectors, or build it. Indexes nothing."""
        vectors = self.get_engine("hybrid").vectors
        if vectors is not None:
            try:
                with lock.hold_lock(self.place.home, 0, lock.VECTOR_GRAPH):
                    vectors.warm(tick=tick)
            except LockedError:  # another process builds it
                vectors.warm(build=False)

    def close(self) -> None:
        """Close the indexes and their files; the next search opens them again."""
        with self._lock:
            self._own.engine = self._opened_model = self._indexed = None
            self._embedded = False
        with self._sources_lock:
            self._sources = {}
            self._configured_until = 0.0
        self._chats = None

    def _load_model(self) -> WantedModel:
        found = model_config.list_signatures(self.place, self._model)
        if self._model is None or self._model.problem or found != self._model_signatures:
            self._model = model_config.load_wanted_model(self.place)
            self._model_signatures = model_config.list_signatures(self.place, self._model)
        return self._model

    def _update(self, model: WantedModel, *, embed: bool) -> str:
        """Ingest and index what is new; return why something may be missing, else ""."""
        try:
            if spool.list_notes(self.place.home):
                from memfs.ingest import transcripts  # with the readers of all assistants

                with suppress(LockedError):  # another process ingests: search the current index
                    transcripts.drain(self.place.home, transcripts.Tally())
            current = self._sync(model, embed=embed)
        except OSError as error:
            if error.errno != errno.EROFS or not files.is_folder(self.place.home.index):
                raise
            return "the disk is read-only, so texts newer than the last indexing cannot be found"
        return "" if current else "another process is indexing, so the newest texts may be missing"

    def _sync(self, model: WantedModel, *, embed: bool) -> bool:
        listed = index_sources.sources(self.place, ())
        name = model.files.name if model.files else ""
        others = [(source.path, signatures.sign_file(source.path)) for source in listed]
        seen = (name, self._snapshot.list_files(), others)
        same = seen == self._indexed and self._own.is_current("text")
        if same and (self._embedded or not embed):
            return True
        done = index_sources.sync(
            self.place, embed=embed, wait=2.0, stage=self._stage, rebuild=False
        )
        if done is None:
            return False
        self._indexed, self._embedded = seen, embed
        return True

    def _open_own(self, model: WantedModel, mode: Mode) -> Engine:
        own = self._own
        if own.engine is None or model is not self._opened_model or not own.is_current(mode):
            plain = own.engine is None or own.engine.vectors is None
            own.open(None if plain and mode == "text" else self._select_model(model))
            self._opened_model = model
        assert own.engine  # noqa: S101 - open returns it
        return own.engine

    def _select_model(self, model: WantedModel) -> ModelFiles | None:
        """Return the model whose vectors are searched; note why it is not the configured one."""
        found = model_config.get_active_model(self.place.home.index, model)
        name, note = model.model.name, ""
        if model.problem:
            how = "with the previous model" if found else "by words alone"
            note = f"searched {how}, because {model.problem.message}; {model.problem.hint}"
        elif found is None and not model.off:
            note = f"searched by words alone; to search by meaning with '{name}', run memfs ingest"
        elif found and model.files and found.name != model.files.name:
            note = f"searched with the previous model; to search with '{name}', run memfs ingest"
        self._model_note = note
        return found

    def list_searches(self, mode: Mode, only: Filter) -> list[IndexSearch]:
        """Return what else is to be searched: sources, as their files are now, and chats."""
        self.source_note, found = "", []
        configured, kinds = self._list_configured(), list_source_kinds(only)
        if any(source.kind in kinds for source in configured):
            dated = only.since is not None or only.until is not None
            days = Filter(since=only.since, until=only.until) if dated else None
            found += [IndexSearch(engine, days) for engine in self._update_sources(mode, kinds)]
        chats = tuple(host for host in self._chat_hosts if host in (only.hosts or hosts.CHATS))
        if chats and MESSAGE in (only.kinds or (MESSAGE,)):
            self._chats = self._chats or OpenStore(Place(None, self.place.user), self._stage)
            engine = self._chats.ask(mode, lambda engine: engine)
            found.append(IndexSearch(engine, replace(only, kinds=(MESSAGE,), hosts=chats)))
        return found

    def list_sources(self, mode: Mode) -> list[tuple[DataSource, Engine]]:
        """Return the sources with the engines of their indexes as they are. Indexes nothing."""
        with self._sources_lock:
            self._select_sources()
            for each in self._sources.values():
                self._open_source(each, mode)
            return [(each.source, each.engine) for each in self._sources.values() if each.engine]

    def remove_damaged(self, check: Callable[[Engine], object]) -> bool:
        """Remove indexes of sources that `check` finds damaged; return whether there are any."""
        removed = False
        with self._sources_lock:
            for each in self._sources.values():
                try:
                    if each.engine:
                        check(each.engine)
                except DamagedError:
                    removed |= self._remove_source(each)
        return removed

    def _list_configured(self) -> list[DataSource]:
        if time.monotonic() >= self._configured_until:
            if not self.watched and data_sources.has_unused_history(self.place):
                self._remove_history()
            self._configured = data_sources.list_searched(self.place)
            self._chat_hosts = _list_chats(self.place)
            self._configured_until = time.monotonic() + _LISTED
        return self._configured

    def _remove_history(self) -> None:
        from memfs.recall import source_index  # with what cuts documents

        with suppress(LockedError, OSError):
            source_index.remove_unused_history(self.place, 0)

    def _make_source(self, source: DataSource) -> _SourceIndex:
        return _SourceIndex(self.place.store(source.tier), source.index, source=source)

    def _select_sources(self) -> None:
        known, self._sources = self._sources, {}
        for source in self._list_configured():
            found = known.get(source.index) or self._make_source(source)
            found.source = source
            self._sources[source.index] = found

    def _update_sources(self, mode: Mode, kinds: tuple[str, ...]) -> list[Engine]:
        with self._sources_lock:
            self._select_sources()
            notes = []
            wanted = [each for each in self._sources.values() if each.source.kind in kinds]
            for each in wanted:
                if not self.watched and time.monotonic() >= each.expiry:
                    self._sync_source(each, mode)
                if not self._open_source(each, mode) and not self.watched:  # it was damaged
                    self._sync_source(each, mode)
                    self._open_source(each, mode)
                notes.append(each.note and f"'{each.source.name}' is {each.note}")
            notes += [_BUSY.format(each.source.name) for each in wanted if each.busy]
            self.source_note = "; ".join(dict.fromkeys(filter(None, notes)))
            return [each.engine for each in wanted if each.engine and each.engine.text.documents]

    def _sync_source(self, each: _SourceIndex, mode: Mode) -> None:
        from memfs.recall import source_index  # with what cuts documents

        began = time.monotonic()
        state = source_index.sync(
            self.place, each.source, embed=mode != "text", stage=self._stage, wait=2.0
        )
        each.busy = state is None
        each.expiry = time.monotonic() + _AGAIN * (time.monotonic() - began)

    def _open_source(self, each: _SourceIndex, mode: Mode) -> bool:
        """Open a newer index of a source; False if it is damaged, and was removed."""
        if each.is_current(mode):
            return True
        if not files.is_folder(each.folder):
            each.engine = None
            return True
        from memfs.recall import source_index  # with what cuts documents

        try:
            each.open(None if mode == "text" else source_index.find_model(self.place, each.source))
        except DamagedError:
            return not self._remove_source(each)
        return True

    def _remove_source(self, each: _SourceIndex) -> bool:
        """Remove a damaged index; return False if another process writes it."""
        from memfs.recall import source_index  # with what cuts documents

        each.engine, each.expiry = None, 0.0
        try:
            source_index.remove(each.store, each.source.name)
        except LockedError:
            return False
        return True


def _list_chats(place: Place) -> tuple[str, ...]:
    if place.project is None or place.user is None:
        return ()
    folder = f"{place.user.local}/recall"
    return tuple(host for host in hosts.CHATS if files.is_folder(f"{folder}/{host}"))
