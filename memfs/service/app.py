"""The state of the service: loaded stores, their indexes, watched folders and background jobs."""

from __future__ import annotations

import _thread
import json
import os
import threading
import time
from collections.abc import Hashable
from typing import cast

from memfs import hosts
from memfs.core.errors import MemfsError
from memfs.ingest import transcript_files
from memfs.ipc.client import VERSION
from memfs.service import log, throttle
from memfs.service.handlers import RequestHandlers, ServiceAnswer
from memfs.service.scheduler import WorkScheduler
from memfs.service.source_watch import SourceWatch, WatchedSource
from memfs.service.store_pool import LoadedStore, StorePool
from memfs.service.team_prompts import TeamPrompts
from memfs.service.team_uploads import TeamUploads
from memfs.service.watch import FolderWatch
from memfs.store import chunk_log, spool

_STEP = 0.01


class Service:
    """The loaded stores, and the threads that keep them current."""

    def __init__(self, lull: float = 0.05, longest: float = 0.5) -> None:
        """Open indexes once no request came for `lull` seconds, after `longest` at the latest."""
        self._lull, self._longest = lull, longest
        self.stores = StorePool(self._add_store, self._remove_store)
        self._watch = FolderWatch(self._queue_changes)
        self.work = WorkScheduler(self._publish)
        self.uploads = TeamUploads()
        self._sources = SourceWatch(
            self._watch, lambda store: self.work.add(store, set(), sources=True)
        )
        self._team = TeamPrompts()
        self._answers = RequestHandlers(self.stores, self.work, self._team, self._queue_refresh)
        self._began = time.time()
        self._asked = 0.0
        self._stale: set[LoadedStore] = set()
        self._news = threading.Condition()
        self._looking = threading.Lock()
        self._ended = False
        self._thread = threading.Thread(target=self._refresh, name="refresh", daemon=True)
        self._thread.start()
        self.work.start()
        self.uploads.start()

    def answer(self, kind: str, words: list[str], body: bytes) -> ServiceAnswer | None:
        """Answer a request. Returns None if the client must do the work itself."""
        self._asked = time.monotonic()
        if kind == "hook":
            return self._answers.hook(words, body)
        if kind == "hold":
            return self._answers.hold(words)
        if kind == "search":
            return self._answers.search(words, body)
        if kind == "status":
            return ServiceAnswer(json.dumps(self.status()).encode())
        return None

    @property
    def watched(self) -> int:
        """How many stores have their folders watched."""
        return self._watch.watched

    def status(self) -> dict[str, object]:
        """Return the status that `memfs service` shows: process, memory, stores and jobs."""
        return {
            "process": os.getpid(),
            "version": VERSION,
            "bytes": _measure_memory(),
            "seconds": round(time.time() - self._began),
            "stores": sorted(store.place.home.root for store in self.stores.list_stores()),
            "polling": self._watch.polling,
            "work": self.work.describe_jobs(),
            "waits": throttle.find_reason(),
        }

    def check_stores(self) -> bool:
        """Release stores that are gone or unused, and check the watched folders again.

        Returns whether this check began: the last one has to have ended. It runs in a thread of
        its own: a file system that hangs must not block the caller.
        """
        began = self._looking.acquire(blocking=False)
        if began:
            _thread.start_new_thread(self._check_stores, ())
        return began

    def _check_stores(self) -> None:
        try:
            self.stores.forget_old()
            self._watch.check_folders()
            for store in self.stores.list_stores():
                self._sources.update(store)
        finally:
            self._looking.release()

    def stop(self) -> None:
        with self._news:
            self._ended = True
            self._news.notify()
        self.work.stop()
        self.uploads.stop()
        self._team.stop()
        self._watch.stop()
        self._thread.join(1)

    def _add_store(self, store: LoadedStore) -> None:
        """Open a new store and watch its folders, which then brings it up to date."""
        self._queue_refresh(store)
        self._watch.add(store, lambda: self._list_when_idle(store))

    def _remove_store(self, store: LoadedStore) -> None:
        self._watch.remove(store)
        self._sources.remove(store)

    def _list_when_idle(self, store: LoadedStore) -> list[str]:
        """List the folders of a store once no request is pending: watching takes time."""
        self._await_lull()
        return list_folders(store)

    def _queue_changes(self, key: Hashable, paths: set[str]) -> None:
        """Queue a read of the changed paths, or of the whole store if `paths` is empty."""
        if isinstance(key, WatchedSource):
            self._sources.queue_changes(key, paths)
            return
        store = cast("LoadedStore", key)
        if not paths:
            self.work.add(store, set(_list_transcript_folders(store)), everything=True)
            return
        inside = f"{store.place.home.local}/{spool.FOLDER}/"
        notes = {path for path in paths if path.startswith(inside)}
        own = {path for path in paths - notes if _is_inside(path, store)}
        transcripts = {
            path for path in paths - notes - own if transcript_files.is_transcript_name(path)
        }
        transcripts = set(filter(os.path.isfile, transcripts))
        if own or transcripts or any(map(os.path.exists, notes)):
            self.work.add(store, transcripts, everything=bool(own))

    def _publish(self, store: LoadedStore) -> None:
        """Follow an index that changed: it is opened, and what is shared of recall is sent."""
        self._queue_refresh(store)
        self.uploads.notify(store.place.home.local)

    def _queue_refresh(self, store: LoadedStore) -> None:
        """Let the refresh thread open the index of a store again."""
        with self._news:
            self._stale.add(store)
            self._news.notify()

    def _refresh(self) -> None:
        while True:
            with self._news:
                while not self._stale and not self._ended:
                    self._news.wait()
                if self._ended:
                    return
                store = self._stale.pop()
            self._await_lull()
            try:
                store.refresh()
                self._sources.update(store)
            except (MemfsError, OSError) as error:
                log.write_line(f"{store.place.home.index} cannot be opened: {error}")
            except BaseException:  # noqa: BLE001 - other stores must still be opened
                log.failure()

    def _await_lull(self) -> None:
        """Wait until no request comes: sessions that start at once need all processors."""
        latest = time.monotonic() + self._longest
        while self._asked + self._lull > time.monotonic() < latest and not self._ended:
            time.sleep(_STEP)


def list_folders(store: LoadedStore) -> list[str]:
    """List the folders that belong to a store: inbox, blocks, archive, facts, transcripts."""
    place = store.place
    found = [f"{place.home.local}/{spool.FOLDER}"]
    for tier in place.stores():
        found += [f"{tier.root}/{name}" for name in ("blocks", "archive", "facts", "static")]
        found.append(chunk_log.folder(tier))
    return [path for path in found if _is_real(path)] + _list_transcript_folders(store)


def _list_transcript_folders(store: LoadedStore) -> list[str]:
    """List the folders where hosts may write transcripts of a store."""
    home, top = os.path.expanduser("~"), store.place.home.top
    return [path for name in hosts.NAMES for path in hosts.reader(name).list_folders(home, top)]


def _is_real(path: str) -> bool:
    """Return whether no part of a path is a link: those of a repository may lead anywhere."""
    return os.path.realpath(path) == path


def _measure_memory() -> int:
    """Return the unshared memory of this process in bytes; 0 where it is unknown."""
    try:
        with open("/proc/self/statm", encoding="ascii") as handle:
            _, resident, shared, *_ = map(int, handle.read().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def _is_inside(path: str, store: LoadedStore) -> bool:
    return any(path.startswith(f"{tier.root}/") for _, tier in store.place.list_tiers())
