"""Handlers of requests to the service. They return None if the client must do the work itself."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.ipc.client import QUICK
from memfs.ops import brief, host_event, review
from memfs.service.scheduler import WorkScheduler
from memfs.store import blocks, sessions, spool
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from memfs.service.store_pool import LoadedStore, StorePool
    from memfs.service.team_prompts import TeamPrompts

_SESSIONS = 1000  # whose locks are remembered


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
        work: WorkScheduler,
        team: TeamPrompts,
        queue_refresh: Callable[[LoadedStore], object],
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
        if event.kind not in (events.START, events.PROMPT, events.STOP):
            return None
        place = blocks.find_answering(event)
        if event.kind == events.START:
            if place is not None:
                self._stores.for_place(place)  # its index is open before the first prompt
                self._team.prepare(place)
            return None
        if place is None:
            return ServiceAnswer(b"")
        store = self._stores.for_place(place)
        record_run = partial(_record_run, event, began)
        if event.kind == events.STOP:
            if not event.transcript or review.is_wanted(place):
                return None  # only the hook has the environment variables that name the transcript
            return self._handle_stop(event, store, record_run)
        lock = self._get_lock(place)
        if not lock.acquire(timeout=QUICK):
            return None
        found: ServiceAnswer | None = None
        try:
            shown = sessions.load(place.home, place.session)
            if shown is None:
                return None  # the whole brief, which needs more of the hook's environment
            reply, update = brief.updates_since(
                place, event.prompt, shown, store, self._team, tools=event.tools
            )
            text = host.format_reply(event, reply).encode("utf-8", "replace")
            on_taken = partial(_record_shown, place, event.host, reply, update, record_run)
            found = ServiceAnswer(text, on_taken, partial(self._release_lock, lock, store))
            return found
        finally:
            if found is None:
                self._release_lock(lock, store)

    def _get_lock(self, place: Place) -> threading.Lock:
        """Return the lock that makes the prompts of a session wait for each other.

        Where our hooks are installed twice, some assistants run both at once: the second must not
        repeat what the first was shown.
        """
        with self._lock:
            if len(self._locks) > _SESSIONS:
                self._locks = {key: lock for key, lock in self._locks.items() if lock.locked()}
            return self._locks.setdefault((place.home.root, place.session), threading.Lock())

    def _release_lock(self, lock: threading.Lock, store: LoadedStore) -> None:
        """Release the lock of a session's prompt, and queue a refresh if its index is stale."""
        lock.release()
        if store.is_stale():
            self._queue_refresh(store)

    def _handle_stop(
        self, event: Event, store: LoadedStore, record_run: Callable[[], object]
    ) -> ServiceAnswer:
        spool.write_note(store.place.home, event.host, event.transcript, event.session)
        self._work.add(store, set())
        return ServiceAnswer(b"", record_run)

    def hold(self, words: list[str]) -> ServiceAnswer:
        """Load the store of a folder."""
        place = blocks.find_serving(words[0], "") if words else None
        if place is not None:
            self._stores.for_place(place)
        return ServiceAnswer(b"")

    def search(self, words: list[str], body: bytes) -> ServiceAnswer | None:
        """Answer a search of the command line or of a tool."""
        from memfs.ops import search  # with all that searches by meaning

        request = search.read_request(body)
        place = blocks.find_serving(os.path.dirname(request.root), "")
        user = place.user.root if place and place.user else ""
        if place is None or (place.home.root, user) != (request.root, request.user):
            return None  # a store that is not trusted: the client handles that
        store = self._stores.for_place(place)
        if self._work.is_busy(store):
            return None  # much may be new: the client reads it, and keeps no other request waiting
        return ServiceAnswer(search.answer_request(store.session.index, words[0], request))


def _record_shown(
    place: Place, host: str, reply: Reply, update: brief.BriefUpdate, record: Callable[[], object]
) -> None:
    """Record what a session was shown, and the run of the hook."""
    brief.note_shown(place, host, reply, update)
    record()


def _record_run(event: Event, began: float) -> None:
    host_event.note_run(event, (time.perf_counter() - began) * 1000)
