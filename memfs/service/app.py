"""The service: loaded stores, watched folders, background jobs, and the answers to requests."""

from __future__ import annotations

import _thread
import json
import os
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, cast

from memfs import files, hosts
from memfs.context import person_notices
from memfs.core import events, parts
from memfs.core.errors import MemfsError
from memfs.core.events import Reply
from memfs.hosts.base import TOOL_EVENTS
from memfs.ingest import transcript_files
from memfs.ipc.client import QUICK, VERSION
from memfs.ipc.service_query import KINDS, ServiceQuery
from memfs.ops import brief, file_guard, host_event, session_review, tool_rules
from memfs.recall.open_store import OpenStore
from memfs.service import job_queue, throttle
from memfs.service.job_queue import JobQueue
from memfs.service.watch import FolderWatch, SourceWatch, WatchedSource
from memfs.store import blocks, chunk_log, sessions, spool, store_paths
from memfs.store.blocks import Place

_SESSIONS = 1000  # whose locks are remembered

_STEP = 0.01


class Service:
    """The loaded stores, and the threads that keep them current."""

    def __init__(self, lull: float = 0.05, longest: float = 0.5) -> None:
        """Open indexes once no request came for `lull` seconds, after `longest` at the latest."""
        self._lull, self._longest = lull, longest
        self.stores = StorePool(self._add_store, self._remove_store)
        self._watch = FolderWatch(self._queue_changes)
        self.work = JobQueue(self._publish)
        team = parts.find("team.seam")
        self.team: Any = team.Background() if team else None
        self._sources = SourceWatch(
            self._watch, lambda store: self.work.add(store, set(), sources=True)
        )
        self._answers = RequestHandlers(self.stores, self.work, self.team, self._queue_refresh)
        self._began = time.time()
        self._asked = 0.0
        self._stale: set[OpenStore] = set()
        self._news = threading.Condition()
        self._looking = threading.Lock()
        self._ended = False
        self._thread = threading.Thread(target=self._refresh, name="refresh", daemon=True)
        self._thread.start()
        self.work.start()
        if self.team:
            self.team.start()

    def answer(self, kind: str, words: list[str], body: bytes) -> ServiceAnswer | None:
        """Answer a request. Returns None if the client must do the work itself."""
        self._asked = time.monotonic()
        if kind == "status":
            return ServiceAnswer(json.dumps(self.status()).encode())
        answers = {"hook": self._answers.hook, "hold": self._answers.hold}
        answer = {**answers, "query": self._answers.query}.get(kind)
        return answer(words, body) if answer else None

    def status(self) -> dict[str, object]:
        return {
            "process": os.getpid(),
            "version": VERSION,
            "bytes": _measure_memory(),
            "processor": round(time.process_time(), 3),
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
            self.stores.release_unused()
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
        if self.team:
            self.team.stop()
        self._watch.stop()
        self._thread.join(1)

    def _add_store(self, store: OpenStore) -> None:
        self._queue_refresh(store)
        self._watch.add(store, lambda: self._list_when_idle(store))

    def _remove_store(self, store: OpenStore) -> None:
        self._watch.remove(store)
        self._sources.remove(store)

    def _list_when_idle(self, store: OpenStore) -> list[str]:
        self._await_lull()
        return list_folders(store)

    def _queue_changes(self, key: Hashable, paths: set[str]) -> None:
        """Queue a read of the changed paths, or of the whole store if `paths` is empty."""
        if isinstance(key, WatchedSource):
            self._sources.queue_changes(key, paths)
            return
        store = cast("OpenStore", key)
        if not paths:
            self.work.add(store, set(_list_transcript_folders(store)), everything=True)
            return
        inside = f"{store.place.home.local}/{spool.FOLDER}/"
        notes = {path for path in paths if path.startswith(inside)}
        tiers = tuple(f"{tier.root}/" for _, tier in store.place.list_tiers())
        own = {path for path in paths - notes if path.startswith(tiers)}
        transcripts = {
            path for path in paths - notes - own if transcript_files.is_transcript_name(path)
        }
        transcripts = set(filter(os.path.isfile, transcripts))
        if own or transcripts or any(map(os.path.exists, notes)):
            self.work.add(store, transcripts, everything=bool(own))

    def _publish(self, store: OpenStore) -> None:
        self._queue_refresh(store)
        if self.team:
            self.team.notify(store.place.home.local)

    def _queue_refresh(self, store: OpenStore) -> None:
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
                self.stores.refresh(store)
                self._sources.update(store)
            except (MemfsError, OSError) as error:
                job_queue.write_line(f"cannot open {store.place.home.index}: {error}")
            except BaseException:  # noqa: BLE001 - other stores must still be opened
                job_queue.failure()

    def _await_lull(self) -> None:
        """Wait until no request comes: sessions that start at once need all processors."""
        latest = time.monotonic() + self._longest
        while self._asked + self._lull > time.monotonic() < latest and not self._ended:
            time.sleep(_STEP)


def list_folders(store: OpenStore) -> list[str]:
    """List the folders that belong to a store: inbox, blocks, archive, facts, transcripts."""
    place = store.place
    found = [f"{place.home.local}/{spool.FOLDER}"]
    for tier in place.stores():
        found += [f"{tier.root}/{name}" for name in ("blocks", "archive", "facts", "static")]
        found += (chunk_log.folder(tier), f"{tier.local}/facts")
    # Without links: those of a repository may lead anywhere.
    found = [path for path in found if os.path.realpath(path) == path]
    return found + _list_transcript_folders(store)


def _list_transcript_folders(store: OpenStore) -> list[str]:
    home, top = os.path.expanduser("~"), store.place.home.top
    return [path for name in hosts.READERS for path in hosts.reader(name).list_folders(home, top)]


def _measure_memory() -> int:
    """Return the unshared memory of this process in bytes; 0 where it is unknown."""
    try:
        with open("/proc/self/statm", encoding="ascii") as handle:
            _, resident, shared, *_ = map(int, handle.read().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


@dataclass
class ServiceAnswer:
    """A response. `taken` is called once the client received it, then `done` in any case."""

    data: bytes
    taken: Callable[[], object] = lambda: None
    done: Callable[[], object] = lambda: None


class RequestHandlers:
    """Answers requests from loaded stores. Thread-safe."""

    def __init__(
        self,
        stores: StorePool,
        work: JobQueue,
        team: brief.TeamAsker | None,
        queue_refresh: Callable[[OpenStore], object],
    ) -> None:
        self._stores, self._work, self._queue_refresh = stores, work, queue_refresh
        self._team = team
        self._locks: dict[tuple[str, str], threading.Lock] = {}  # by store and session
        self._lock = threading.Lock()

    def hook(self, words: list[str], body: bytes) -> ServiceAnswer | None:
        """Answer a prompt, or note the end of a turn. Returns None for all other events."""
        elapsed, *words = words
        if not words or words[0] == host_event.LINE:
            return None
        began = time.perf_counter() - float(elapsed) / 1000
        parsed = host_event.read_event(words, body)
        if parsed is None:
            return ServiceAnswer(b"")
        host, event = parsed
        if not os.path.isabs(event.cwd):
            return None
        if event.kind not in (events.START, events.PROMPT, events.STOP, *TOOL_EVENTS):
            return None
        place = blocks.find_answering(event)
        if event.kind == events.START:
            if place is not None:
                self._stores.for_place(place)  # its index is open before the first prompt
                if self._team:
                    self._team.prepare(place)
            return None
        if place is None:
            return ServiceAnswer(b"")
        store = self._stores.for_place(place)

        def answer(reply: Reply, note: Callable[[], object] | None = None) -> ServiceAnswer:
            def on_taken() -> None:
                if note:
                    note()
                host_event.note_run(event, (time.perf_counter() - began) * 1000)

            text = host.format_reply(event, reply).encode("utf-8", "replace")
            return ServiceAnswer(text, on_taken)

        if event.kind == events.STOP:
            if not event.transcript or session_review.is_wanted(place):
                return None  # only the hook has the environment variables that name the transcript
            spool.write_note(place.home, event.host, event.transcript, event.session)
            self._work.add(store, set())
            return answer(Reply(notice=person_notices.take_edits(place)))
        if event.kind in TOOL_EVENTS and file_guard.find(place, event):
            return None  # the hook checks what a tool writes into a store
        lock = self._get_lock(place)
        if not lock.acquire(timeout=QUICK):
            return None
        found: ServiceAnswer | None = None
        try:
            if event.kind in TOOL_EVENTS:
                given = tool_rules.answer(place, event, host, store.engines)
                found = answer(given.reply, partial(tool_rules.note_given, place, given))
            elif (shown := sessions.load(place.home, place.session)) is not None:
                reply, update = brief.updates_since(
                    place,
                    event.prompt,
                    shown,
                    store.engines,
                    self._team,
                    tools=event.tools,
                    gone=store.gone,
                )
                note = partial(brief.note_shown, place, event.host, reply, update)
                found = answer(reply, note)
            return found  # None: the whole brief, which needs more of the hook's environment
        finally:
            if found is None:
                self._release_lock(lock, store)
            else:
                found.done = partial(self._release_lock, lock, store)

    def _get_lock(self, place: Place) -> threading.Lock:
        """Return the lock of a session: a hook installed twice must not repeat itself."""
        with self._lock:
            if len(self._locks) > _SESSIONS:
                self._locks = {key: lock for key, lock in self._locks.items() if lock.locked()}
            return self._locks.setdefault((place.home.root, place.session), threading.Lock())

    def _release_lock(self, lock: threading.Lock, store: OpenStore) -> None:
        """Release the lock of a session's prompt, and queue a refresh if its index is stale."""
        lock.release()
        if store.is_stale():
            self._queue_refresh(store)

    def hold(self, words: list[str], _body: bytes) -> ServiceAnswer:
        place = blocks.find_serving(words[0], "") if words else None
        if place is not None:
            self._stores.for_place(place)
        return ServiceAnswer(b"")

    def query(self, words: list[str], body: bytes) -> ServiceAnswer | None:
        if words[0] not in KINDS:
            return None
        import msgspec  # with the first query

        found = msgspec.json.decode(body, type=ServiceQuery)
        place = blocks.find_serving(os.path.dirname(found.root), "")
        user = place.user.root if place and place.user else ""
        if place is None or (place.home.root, user) != (found.root, found.user):
            return None  # a store that is not trusted: the client handles that
        store = self._stores.for_place(place)
        if self._work.is_busy(store):
            return None  # much may be new: the client reads it, and keeps no other request waiting
        op = import_module(f"memfs.ops.{words[0]}")
        return ServiceAnswer(msgspec.json.encode(op.answer(store, found.session, *found.arguments)))


MOST = 12  # stores; the others are released, and opened again when needed
LONGEST = 3600.0  # seconds that a store stays open after its last use


class StorePool:
    """All open stores. Calls `on_open` and `on_release` with a store. Thread-safe."""

    def __init__(
        self, on_open: Callable[[OpenStore], object], on_release: Callable[[OpenStore], object]
    ) -> None:
        self._on_open, self._on_release = on_open, on_release
        self._stores: dict[tuple[str, str, str], OpenStore] = {}
        self._used: dict[OpenStore, float] = {}  # monotonic times
        self._lock = threading.Lock()

    def for_place(self, place: Place) -> OpenStore:
        """Return the store of a place, without its session. Its indexes may not be open yet."""
        key = (place.home.root, place.home.local, place.user.root if place.user else "")
        with self._lock:
            found = self._stores.get(key)
            if found is None:
                found = OpenStore(Place(place.project, place.user), watched=True)
                self._stores[key] = found
                self._on_open(found)
            self._used[found] = time.monotonic()
            while len(self._stores) > MOST:
                self._release(min(self._stores, key=lambda each: self._used[self._stores[each]]))
        return found

    def list_stores(self) -> list[OpenStore]:
        with self._lock:
            return list(self._stores.values())

    def refresh(self, store: OpenStore) -> None:
        """Open the published indexes of a store, unless it is gone. May raise."""
        if not is_gone(store):
            store.refresh()

    def release_unused(self) -> None:
        """Release stores that were not used for `LONGEST` seconds, or that are gone."""
        least = time.monotonic() - LONGEST
        gone = {store for store in self.list_stores() if is_gone(store)}  # slow: without the lock
        with self._lock:
            for key, store in list(self._stores.items()):
                if self._used[store] < least or store in gone:
                    self._release(key)

    def _release(self, key: tuple[str, str, str]) -> None:
        store = self._stores.pop(key)
        del self._used[store]
        self._on_release(store)


def is_gone(store: OpenStore) -> bool:
    """Return whether a store was removed, or is not trusted any more, as the disk says."""
    project = store.place.project
    trusted = project is None or store_paths.is_trusted(project)
    return not trusted or not files.is_folder(store.place.home.root)
