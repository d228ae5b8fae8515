"""What is kept beside a session: how it came out, as people said; and the removal of all of it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

from memfs.core.privacy import storable
from memfs.core.records import ACCEPTED, Fact
from memfs.files.logs import JsonLog, have_type
from memfs.store import (
    clock,
    dismissals,
    facts,
    handoff,
    lock,
    prompt_log,
    sessions,
    standing_rules,
)
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

FILE = "outcomes.jsonl"
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
    with lock.hold_lock(store, name=lock.KINDS):
        _LOG.append(f"{store.local}/{FILE}", [outcome])
    return outcome


def remove_session(store: Store, session: str) -> None:
    """Remove what was said of a session. The caller holds the lock of kinds."""
    path = f"{store.local}/{FILE}"
    _LOG.rewrite(path, lambda each: None if each.session == session else each)


def list_outcomes(store: Store) -> list[SessionOutcome]:
    """Return all outcomes, the latest last; damaged lines are left out."""
    return [each for each, _ in _LOG.read(f"{store.local}/{FILE}") if each]


def _decode_outcome(line: bytes) -> SessionOutcome | None:
    found = SessionOutcome(**json.loads(line))
    known = have_type(str, found.session, found.why, found.at) and have_type(int, found.turn)
    return found if known and have_type(bool, found.worked, found.gone) else None


_LOG = JsonLog(lambda each: (json.dumps(asdict(each)) + "\n").encode(), _decode_outcome)


def remove_traces(place: Place, store: Store, host: str, session: str) -> int:
    """Remove outcomes, rules, answers to prompts, dismissals and facts of a session of a store.

    Returns the number of facts. Those that a person accepted stay. The caller holds the lock of
    kinds in all stores of the place.
    """
    gone = sum(_remove_facts(each, host, session) for each in place.stores())
    remove_session(store, session)
    sessions.forget_shown(store, session)
    prompt_log.remove(store)  # it quotes what was found in sessions
    both = (host, session)
    dismissals.remove(
        store,
        lambda each: both in ((each.host, each.session), (each.source_host, each.source_session)),
    )
    handoff.write(store, [each for each in handoff.read(store) if each.session != session])
    rules = [rule for rule in standing_rules.read(store) if rule.session != session]
    standing_rules.write(store, rules)
    return gone


def _remove_facts(store: Store, host: str, session: str) -> int:
    def is_gone(fact: Fact) -> bool:
        return (fact.session, fact.host) == (session, host) and fact.status != ACCEPTED

    return sum(facts.remove_facts(path, is_gone) for path in facts.sources(store))
