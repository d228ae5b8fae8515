"""The indexes that are searched together with a place's own: of data sources, and of the chats.

Data sources have an index each. Chats that were imported from a web site belong to no project: they
are in the user's own store, and a search in a project finds them there. What is not configured is
neither opened nor imported.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from memfs import files, hosts
from memfs.core.errors import DamagedError, LockedError, StoreError
from memfs.search import active_model
from memfs.search.engine import Engine, Filter, Mode
from memfs.search.federated_search import IndexSearch
from memfs.store import data_sources
from memfs.store.blocks import Place
from memfs.store.data_sources import DataSource

if TYPE_CHECKING:
    from memfs.recall.index_sources import Stage

SOURCE, MESSAGE = "source", "message"  # kinds of documents
_AGAIN = 10.0  # times what a look at the files took: so long its result counts
_LISTED = 1.0  # seconds that the list of what is configured counts
_BUSY = "another process is indexing '{}': the newest may be missing"
# The fields of a filter that no document of a source has.
_NOT_OF_SOURCES = (
    "roles",
    "hosts",
    "sessions",
    "projects",
    "branches",
    "tags",
    "any_tags",
    "importance",
    "speakers",
)


@dataclass
class _OpenSource:
    """An open index of a source: `signature` is that of what was published when it was opened."""

    source: DataSource
    engine: Engine | None = None
    signature: object = None
    note: str = ""
    expiry: float = 0.0  # until this monotonic time its files are not looked at again
    busy: bool = False


class _Configured(NamedTuple):
    """The configured sources, and the hosts of chats: valid until a monotonic time."""

    expiry: float
    sources: list[DataSource]
    chats: tuple[str, ...]


@dataclass
class FederatedIndexes:
    """The other indexes of a place, which stay open between searches. Thread-safe.

    `open_chats` returns the engine of the user's own store, brought up to date. `watched`: another
    process keeps the indexes of the sources current.
    """

    place: Place
    open_chats: Callable[[Mode], Engine]
    stage: Stage | None = None
    watched: bool = False
    note: str = ""  # for the user: why a search may miss something
    _open: dict[str, _OpenSource] = field(default_factory=dict)  # by folder of the index
    _configured: _Configured = field(default_factory=lambda: _Configured(0.0, [], ()))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def list_searches(self, mode: Mode, only: Filter) -> list[IndexSearch]:
        """Return what else is to be searched: sources, as their files are now, and chats."""
        self.note, found = "", []
        configured = self._load_configured()
        if configured.sources and accepts_sources(only):
            dated = only.since is not None or only.until is not None
            days = Filter(since=only.since, until=only.until) if dated else None
            found += [IndexSearch(engine, days) for engine in self._update_sources(mode)]
        chats = tuple(host for host in configured.chats if host in (only.hosts or hosts.CHATS))
        if chats and MESSAGE in (only.kinds or (MESSAGE,)):
            rest = replace(only, kinds=(MESSAGE,), hosts=chats)
            found.append(IndexSearch(self.open_chats(mode), rest))
        return found

    def list_open(self, mode: Mode) -> list[tuple[DataSource, Engine]]:
        """Return the sources with the engines of their indexes as they are. Indexes nothing."""
        with self._lock:
            self._select_sources()
            for each in self._open.values():
                self._refresh(each, mode)
            return [(each.source, each.engine) for each in self._open.values() if each.engine]

    def get_signature(self) -> object:
        """Return what changes when a source comes, goes, or has a newer index."""
        return [
            (source.index, self._sign(self._open.get(source.index) or _OpenSource(source)))
            for source in self._load_configured().sources
        ]

    def remove_damaged(self, check: Callable[[Engine], object]) -> bool:
        """Remove the indexes of sources that `check` finds damaged; return whether there are any.

        The next search makes them anew.
        """
        removed = False
        with self._lock:
            for each in self._open.values():
                try:
                    if each.engine:
                        check(each.engine)
                except DamagedError:
                    removed |= self._remove(each)
        return removed

    def close(self) -> None:
        """Close the indexes; the next search opens them again."""
        with self._lock:
            self._open = {}
            self._configured = _Configured(0.0, [], ())

    def _load_configured(self) -> _Configured:
        if time.monotonic() >= self._configured.expiry:
            sources, expiry = data_sources.list_sources(self.place), time.monotonic() + _LISTED
            self._configured = _Configured(expiry, sources, _list_chats(self.place))
        return self._configured

    def _select_sources(self) -> None:
        """Keep what is open of the configured sources. The caller has the lock."""
        known, self._open = self._open, {}
        for source in self._load_configured().sources:
            found = known.get(source.index) or _OpenSource(source)
            found.source = source
            self._open[source.index] = found

    def _update_sources(self, mode: Mode) -> list[Engine]:
        with self._lock:
            self._select_sources()
            for each in self._open.values():
                if not self.watched and time.monotonic() >= each.expiry:
                    self._sync(each, mode)
                if not self._refresh(each, mode) and not self.watched:  # it was damaged
                    self._sync(each, mode)
                    self._refresh(each, mode)
            notes = [each.note for each in self._open.values()]
            notes += [_BUSY.format(each.source.name) for each in self._open.values() if each.busy]
            self.note = "; ".join(dict.fromkeys(filter(None, notes)))
            return [each.engine for each in self._open.values() if each.engine]

    def _sync(self, each: _OpenSource, mode: Mode) -> None:
        began = time.monotonic()
        state = load_source_index().sync(
            self.place, each.source, embed=mode != "text", stage=self.stage, wait=2.0
        )
        each.busy = state is None
        each.expiry = time.monotonic() + _AGAIN * (time.monotonic() - began)

    def _refresh(self, each: _OpenSource, mode: Mode) -> bool:
        """Open the index of a source again, if a newer one was published.

        False if it is damaged, and was removed.
        """
        vectors = each.engine.vectors if each.engine else None
        by_words = vectors is None and mode != "text"
        if each.engine is not None and self._sign(each) == each.signature and not by_words:
            return True
        room, engine = load_source_index(), each.engine
        each.engine, each.note = None, ""
        if not files.is_folder(each.source.index):
            return True
        model = None if mode == "text" else room.find_model(self.place, each.source)
        try:
            if engine and vectors and model and vectors.encoder.name == model.name:
                each.engine = engine.reopen(each.source.index)
            else:
                each.engine = room.open_engine(self.place, each.source, model)
        except DamagedError:
            return not self._remove(each)
        except StoreError as error:
            each.note = f"'{each.source.name}' is searched by words alone: {error.message}"
            each.engine = room.open_engine(self.place, each.source, None)
        each.signature = self._sign(each)
        return True

    def _remove(self, each: _OpenSource) -> bool:
        """Remove a damaged index; return whether nobody else is writing it."""
        each.engine, each.expiry = None, 0.0
        try:
            load_source_index().remove(self.place.store(each.source.tier), each.source.name)
        except LockedError:
            return False
        return True

    def _sign(self, each: _OpenSource) -> object:
        vectors = each.engine.vectors if each.engine else None
        return active_model.get_signature(
            each.source.index, vectors.encoder.name if vectors else ""
        )


def _list_chats(place: Place) -> tuple[str, ...]:
    """Return the hosts of imported chats in the user's store, for a project."""
    if place.project is None or place.user is None:
        return ()
    folder = f"{place.user.local}/recall"
    return tuple(host for host in hosts.CHATS if files.is_folder(f"{folder}/{host}"))


def accepts_sources(only: Filter) -> bool:
    """Tell whether a filter passes documents of sources."""
    others = any(getattr(only, name) for name in _NOT_OF_SOURCES)
    return not others and SOURCE in (only.kinds or (SOURCE,))


def drop_sources(only: Filter) -> Filter | None:
    """Return a filter for an index without sources; None if nothing is left to search there."""
    if SOURCE not in only.kinds:
        return only
    kinds = tuple(kind for kind in only.kinds if kind != SOURCE)
    return replace(only, kinds=kinds) if kinds else None


def load_source_index() -> Any:
    """Import what indexes sources: only where there are some, since it takes 0.03 seconds."""
    return import_module("memfs.recall.source_index")
