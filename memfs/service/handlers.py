"""What the service is asked, and what it answers; None: the asker is to do it."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from memfs.core import events
from memfs.ipc.client import QUICK
from memfs.ops import brief, host_event, review
from memfs.store import blocks, sessions, spool

if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.core.events import Event, Reply
    from memfs.service.scheduler import WorkScheduler
    from memfs.service.store_pool import LoadedStore, StorePool
    from memfs.store.blocks import Place

_SESSIONS = 1000  # that are remembered to have asked


@dataclass
class ServiceAnswer:
    """What is sent; `taken` is called once somebody took it over, then `done` in any case."""

    data: bytes
    taken: Callable[[], object] = lambda: None
    done: Callable[[], object] = lambda: None


class RequestHandlers:
    """Answers questions with what is held. Any number of threads may ask."""

    def __init__(
        self, stores: StorePool, work: WorkScheduler, stale: Callable[[LoadedStore], object]
    ) -> None:
        self._stores, self._work, self._stale = stores, work, stale
        self._turns: dict[tuple[str, str], threading.Lock] = {}  # by store and session
        self._lock = threading.Lock()

    def hook(self, words: list[str], body: bytes) -> ServiceAnswer | None:
        """Answer a prompt, or take note of a turn's end; all else is the hook's own work."""
        spent, *words = words
        if not words or words[0] == host_event.LINE:
            return None
        began = time.perf_counter() - float(spent) / 1000
        heard = host_event.read_event(words, body)
        if heard is None:
            return ServiceAnswer(b"")
        host, event = heard
        if not os.path.isabs(event.cwd):
            return None
        if event.kind not in (events.START, events.PROMPT, events.STOP):
            return None
        place = blocks.find_answering(event)
        if event.kind == events.START:
            if place is not None:
                self._stores.of(place)  # so that all is open when its prompts come
            return None
        if place is None:
            return ServiceAnswer(b"")
        held = self._stores.of(place)
        ran = partial(_ran, event, began)
        if event.kind == events.STOP:
            if not event.transcript or review.is_wanted(place):
                return None  # where some hosts say what was said only their own variables tell
            return self._stopped(event, held, ran)
        turn = self._turn(place)
        if not turn.acquire(timeout=QUICK):
            return None
        found: ServiceAnswer | None = None
        try:
            shown = sessions.load(place.home, place.session)
            if shown is None:
                return None  # the whole brief, which needs more of the hook's environment
            reply, news = brief.updates_since(
                place, event.prompt, shown, held.recall, tools=event.tools
            )
            text = host.format_reply(event, reply).encode("utf-8", "replace")
            taken = partial(_shown, place, event.host, reply, news, ran)
            found = ServiceAnswer(text, taken, partial(self._over, turn, held))
            return found
        finally:
            if found is None:
                self._over(turn, held)

    def _turn(self, place: Place) -> threading.Lock:
        """Return what a session's prompts take one after the other.

        Where our hooks are wired in two places, some assistants run both, at once: what the first
        was told is not told to the second.
        """
        with self._lock:
            if len(self._turns) > _SESSIONS:
                self._turns = {key: turn for key, turn in self._turns.items() if turn.locked()}
            return self._turns.setdefault((place.home.root, place.session), threading.Lock())

    def _over(self, turn: threading.Lock, held: LoadedStore) -> None:
        """End a session's prompt; what was published since is opened, now that nobody waits."""
        turn.release()
        if held.stale():
            self._stale(held)

    def _stopped(self, event: Event, held: LoadedStore, ran: Callable[[], object]) -> ServiceAnswer:
        spool.write_note(held.place.home, event.host, event.transcript, event.session)
        self._work.add(held, set())
        return ServiceAnswer(b"", ran)

    def hold(self, words: list[str]) -> ServiceAnswer:
        """Hold the store of a folder from now on."""
        place = blocks.find_serving(words[0], "") if words else None
        if place is not None:
            self._stores.of(place)
        return ServiceAnswer(b"")

    def search(self, words: list[str], body: bytes) -> ServiceAnswer | None:
        """Answer a search of the command line or of a tool."""
        from memfs.ops import search  # with all that searches by meaning

        wanted = search.read_request(body)
        place = blocks.find_serving(os.path.dirname(wanted.root), "")
        user = place.user.root if place and place.user else ""
        if place is None or (place.home.root, user) != (wanted.root, wanted.user):
            return None  # a store that is not trusted: the asker knows what it does
        held = self._stores.of(place)
        if self._work.busy(held):
            return None  # much may be new: the asker reads it, and does not keep others waiting
        return ServiceAnswer(search.answer_request(held.opened.kept, words[0], wanted))


def _shown(
    place: Place, host: str, reply: Reply, news: brief.BriefUpdate, ran: Callable[[], object]
) -> None:
    """Note what a session was shown, and what it was given."""
    brief.note_shown(place, host, reply, news)
    ran()


def _ran(event: Event, began: float) -> None:
    host_event.note_run(event, (time.perf_counter() - began) * 1000)
