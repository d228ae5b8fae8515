"""What the last session leaves to the next one: to look at, to hand over anew, or to drop."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memfs.core.errors import StoreError
from memfs.store import clock, config, handoff
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

if TYPE_CHECKING:
    from memfs.recall.index_sources import Stage


class LastSession(NamedTuple):
    """What the last session in a project leaves, and the state of that.

    `state` is waiting, told, dropped, old (the next session is not told), or off (by a setting).
    `receiver` is the session that was told.
    """

    session: str
    host: str
    at: str
    text: str
    state: str
    receiver: str

    def describe_state(self) -> str:
        """Say whether the next session is told."""
        return {
            "waiting": "the next session gets the note; to drop the note: memfs handoff --drop",
            "told": f"session {self.receiver} got the note; to pass it on again: memfs handoff",
            "dropped": "the note was dropped; to pass it on after all: memfs handoff",
            "old": "no session gets the note, which is too old; to pass it on: memfs handoff",
            "off": "no session gets the note: 'hooks.handoff' is off",
        }[self.state]


def find(place: Place) -> LastSession | None:
    """Return what the last session of a project leaves; None for nothing."""
    store = place.project
    found = handoff.find_last(store) if store else None
    if store is None or found is None:
        return None
    told = handoff.find_receiver(store, found)
    if config.load(place).get("hooks.handoff") != "auto":
        state = "off"
    elif told == handoff.DROPPED:
        state = "dropped"
    elif told and told != handoff.ASKED:
        state = "told"
    else:
        state = "waiting" if told or clock.seconds() <= found.until else "old"
    receiver = told if state == "told" else ""
    return LastSession(found.session, found.host, found.at, found.get_text(), state, receiver)


def hand_over(place: Place, home: str, stage: Stage) -> LastSession | None:
    """Read what is new of the project's sessions, and have the next one be told of the last."""
    _require_project(place)
    from memfs.ops import ingest  # with the engine

    ingest.run(place, ingest.plan(place, [], home), stage)
    return _mark(place, handoff.ASKED)


def drop(place: Place) -> LastSession | None:
    """Have no session be told of the last one."""
    return _mark(place, handoff.DROPPED)


def _mark(place: Place, what: str) -> LastSession | None:
    store = _require_project(place)
    found = handoff.find_last(store)
    if found is not None:
        handoff.note_told(store, found, what)
    return find(place)


def _require_project(place: Place) -> Store:
    if place.project is None:
        raise StoreError("there is no project store here", "create a store: memfs init")
    return place.project
