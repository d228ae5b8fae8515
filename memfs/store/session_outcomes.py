"""What people said of how a session came out: lines that are only added, the latest counts."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

from memfs.core.errors import UNREADABLE
from memfs.core.privacy import storable
from memfs.files import atomic, logs
from memfs.store import clock, lock
from memfs.store.store_paths import Store

FILE = "outcomes.jsonl"
LOCK = "outcomes.lock"
_LONGEST = 300  # characters of a reason


@dataclass(frozen=True)
class SessionOutcome:
    """How a session, or one turn of it (from 1; 0: all of them), came out, and why.

    `gone`: it was taken out of the graph instead.
    """

    session: str
    worked: bool = False
    why: str = ""
    turn: int = 0
    at: str = ""
    gone: bool = False


def write_outcome(store: Store, outcome: SessionOutcome) -> SessionOutcome:
    """Append the outcome of a session durably, without secrets in its reason; return it."""
    why = " ".join(storable(outcome.why).split())[:_LONGEST]
    outcome = replace(outcome, why=why, at=clock.now())
    with lock.hold_lock(store, name=LOCK):
        line = json.dumps(asdict(outcome)) + "\n"
        logs.add_lines(f"{store.local}/{FILE}", line, private=True)
    return outcome


def remove_session(store: Store, session: str) -> None:
    """Remove what was said of a session."""
    path = f"{store.local}/{FILE}"
    with lock.hold_lock(store, name=LOCK):
        kept = [each for each in list_outcomes(store) if each.session != session]
        if len(kept) < len(list_outcomes(store)):
            lines = "".join(json.dumps(asdict(each)) + "\n" for each in kept)
            atomic.write(path, lines, private=True)


def list_outcomes(store: Store) -> list[SessionOutcome]:
    """Return all outcomes, the latest last; damaged lines are left out."""
    found = []
    for line in logs.read_lines(f"{store.local}/{FILE}"):
        try:
            each = SessionOutcome(**json.loads(line))
        except UNREADABLE:
            continue
        if isinstance(each.session, str) and isinstance(each.turn, int):
            found.append(each)
    return found
