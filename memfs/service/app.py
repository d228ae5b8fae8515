"""All that the service keeps warm: stores, their indexes, what watches them, and work on them."""

from __future__ import annotations

import _thread
import json
import os
import threading
import time
from typing import TYPE_CHECKING, cast

from memfs import hosts
from memfs.core.errors import MemfsError
from memfs.ingest import transcript_files
from memfs.ipc.client import VERSION
from memfs.service import log, throttle
from memfs.service.handlers import RequestHandlers, ServiceAnswer
from memfs.service.scheduler import WorkScheduler
from memfs.service.store_pool import LoadedStore, StorePool
from memfs.service.watch import FolderWatch
from memfs.store import chunk_log, spool

if TYPE_CHECKING:
    from collections.abc import Hashable


_LULL = 0.05  # seconds without a question, after which there is room to open what is new
_LONGEST = 0.5  # seconds that it waits for that
_STEP = 0.01


class Service:
    """What is held, and who keeps it current."""

    def __init__(self) -> None:
        self.stores = StorePool(self._met, self._gone)
        self._watch = FolderWatch(self._changed)
        self._work = WorkScheduler(self._published)
        self._answers = RequestHandlers(self.stores, self._work, self._published)
        self._began = time.time()
        self._asked = 0.0
        self._stale: set[LoadedStore] = set()
        self._news = threading.Condition()
        self._looking = threading.Lock()
        self._ended = False
        self._thread = threading.Thread(target=self._refresh, name="refresh", daemon=True)
        self._thread.start()

    def answer(self, kind: str, words: list[str], body: bytes) -> ServiceAnswer | None:
        """Answer a question; None if the asker is to do it."""
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

    def status(self) -> dict[str, object]:
        """Return what the service is doing, for people."""
        return {
            "process": os.getpid(),
            "version": VERSION,
            "bytes": _resident(),
            "seconds": round(time.time() - self._began),
            "stores": sorted(held.place.home.root for held in self.stores.all()),
            "polling": self._watch.polling,
            "work": self._work.said(),
            "waits": throttle.find_reason(),
        }

    def look(self) -> None:
        """Let go of what is no longer there, or no longer asked for.

        Behind the caller, who may be waited for: a file system may not answer.
        """
        if self._looking.acquire(blocking=False):  # the last look is over
            _thread.start_new_thread(self._look, ())

    def _look(self) -> None:
        try:
            self.stores.forget_old()
            self._watch.look()
        finally:
            self._looking.release()

    def stop(self) -> None:
        with self._news:
            self._ended = True
            self._news.notify()
        self._work.stop()
        self._watch.stop()
        self._thread.join(1)

    def _met(self, held: LoadedStore) -> None:
        """Have a store that is new watched, then brought up to date, and opened."""
        self._published(held)
        self._watch.add(held, lambda: self._listed(held))

    def _gone(self, held: LoadedStore) -> None:
        self._watch.remove(held)

    def _listed(self, held: LoadedStore) -> list[str]:
        """List the folders of a store as soon as nobody asks: watching takes a moment, too."""
        self._await_lull()
        return _folders(held)

    def _changed(self, key: Hashable, paths: set[str]) -> None:
        """Have read what changed on the disk; all of it if nobody knows what."""
        held = cast("LoadedStore", key)
        if not paths:
            self._work.add(held, set(_said(held)), everything=True)
            return
        inside = f"{held.place.home.local}/{spool.FOLDER}/"
        notes = {path for path in paths if path.startswith(inside)}
        own = {path for path in paths - notes if _within(path, held)}
        said = {path for path in paths - notes - own if transcript_files.is_transcript_name(path)}
        said = set(filter(os.path.isfile, said))
        if own or said or any(map(os.path.exists, notes)):
            self._work.add(held, said, everything=bool(own))

    def _published(self, held: LoadedStore) -> None:
        """Have the index of a store opened again."""
        with self._news:
            self._stale.add(held)
            self._news.notify()

    def _refresh(self) -> None:
        while True:
            with self._news:
                while not self._stale and not self._ended:
                    self._news.wait()
                if self._ended:
                    return
                held = self._stale.pop()
            self._await_lull()
            try:
                held.refresh()
            except (MemfsError, OSError) as error:
                log.line(f"{held.place.home.index} cannot be opened: {error}")
            except BaseException:  # noqa: BLE001 - the others are opened
                log.failure()

    def _await_lull(self) -> None:
        """Wait until nobody asks: sessions that start at once need all processors."""
        latest = time.monotonic() + _LONGEST
        while self._asked + _LULL > time.monotonic() < latest and not self._ended:
            time.sleep(_STEP)


def _folders(held: LoadedStore) -> list[str]:
    """List the folders where something can change that concerns a store."""
    place = held.place
    found = [f"{place.home.local}/{spool.FOLDER}"]
    for store in place.stores():
        found += [f"{store.root}/{name}" for name in ("blocks", "archive", "facts", "static")]
        found.append(chunk_log.folder(store))
    return [path for path in found if _is_real(path)] + _said(held)


def _said(held: LoadedStore) -> list[str]:
    """List the folders where transcripts of a store may come to be."""
    home, top = os.path.expanduser("~"), held.place.home.top
    return [path for name in hosts.NAMES for path in hosts.reader(name).list_folders(home, top)]


def _is_real(path: str) -> bool:
    """Tell whether no part of a path is a link: a repository may bring some to anywhere."""
    return os.path.realpath(path) == path


def _resident() -> int:
    """Return how many bytes of memory are this process's own; 0 where that is not told."""
    try:
        with open("/proc/self/statm", encoding="ascii") as handle:
            _, resident, shared, *_ = map(int, handle.read().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def _within(path: str, held: LoadedStore) -> bool:
    return any(path.startswith(f"{store.root}/") for _, store in held.place.list_tiers())
