"""What people say of sessions: how one came out, its star, its title; and the removal of it all."""

import json
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, replace

from memfs.core.privacy import storable
from memfs.core.records import ACCEPTED, Fact
from memfs.files.logs import JsonLog, have_type
from memfs.store import (
    clock,
    dismissals,
    facts,
    handoff,
    inventory,
    lock,
    prompt_log,
    recall,
    sessions,
    spool,
    standing_rules,
)
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

FILE = "outcomes.jsonl"
FORGETTING = (lock.INGEST, lock.INDEX, lock.SESSION_GRAPH, lock.KINDS)  # locks that it takes
_LONGEST = 300  # characters of a reason, or of a title


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


@dataclass(frozen=True)
class SessionMark:
    """A star, or its removal, or another title for a session ("": its own); None: as before."""

    session: str
    starred: bool | None = None
    title: str | None = None
    at: str = ""


def write_outcome(store: Store, outcome: SessionOutcome) -> SessionOutcome:
    """Append the outcome of a session durably, without secrets in its reason; return it."""
    outcome = replace(outcome, why=_make_plain(outcome.why), at=clock.now())
    with lock.hold_lock(store, name=lock.KINDS):
        _LOG.append(f"{store.local}/{FILE}", [outcome])
    return outcome


def write_marks(store: Store, marks: Iterable[SessionMark]) -> None:
    """Append marks of sessions durably, without secrets in their titles."""
    now = clock.now()
    plain = [
        replace(each, title=None if each.title is None else _make_plain(each.title), at=now)
        for each in marks
    ]
    with lock.hold_lock(store, name=lock.KINDS):
        _LOG.append(f"{store.local}/{FILE}", plain)


def _make_plain(text: str) -> str:
    return " ".join(storable(text).split())[:_LONGEST]


def list_outcomes(store: Store) -> list[SessionOutcome]:
    """Return all outcomes, the latest last; damaged lines are left out."""
    found = _LOG.read(f"{store.local}/{FILE}")
    return [each for each, _ in found if isinstance(each, SessionOutcome)]


def load_marks(store: Store) -> dict[str, SessionMark]:
    """Return the star and the title of each session that was given one, by its id."""
    found: dict[str, SessionMark] = {}
    for each, _ in _LOG.read(f"{store.local}/{FILE}"):
        if isinstance(each, SessionMark):
            before = found.get(each.session, each)
            starred = before.starred if each.starred is None else each.starred
            title = before.title if each.title is None else each.title
            found[each.session] = replace(each, starred=starred, title=title)
    return found


def _decode(line: bytes) -> SessionOutcome | SessionMark | None:
    fields = json.loads(line)
    if "starred" in fields or "title" in fields:
        mark = SessionMark(**fields)
        known = have_type(str, mark.session, mark.at, mark.title or "")
        return mark if known and have_type(bool, mark.starred or False) else None
    found = SessionOutcome(**fields)
    known = have_type(str, found.session, found.why, found.at) and have_type(int, found.turn)
    return found if known and have_type(bool, found.worked, found.gone) else None


_LOG: JsonLog[SessionOutcome | SessionMark] = JsonLog(
    lambda each: (json.dumps(asdict(each)) + "\n").encode(), _decode
)


def forget_sessions(place: Place, store: Store, gone: Collection[tuple[str, str]]) -> int:
    """Remove sessions, and all that is kept of them beside; they are not read again.

    Returns what `remove_traces` does. The messages go last: after a kill it can be done again. The
    caller holds the locks of `FORGETTING` in the store, too.
    """
    for note, host, _, name in spool.list_notes(store):
        if (host, name) in gone:
            spool.remove_note(note)
    removed = remove_traces(place, store, gone)
    inventory.remove_indexes(store)  # what is deleted in one stays in its files
    for host, session in gone:
        recall.forget(store, host, session)
    return removed


def remove_traces(place: Place, store: Store, gone: Collection[tuple[str, str]]) -> int:
    """Remove all that is kept beside sessions of a store, which are named by (host, id).

    That is what people said of them, rules, answers to prompts, dismissals and facts. Returns the
    number of facts. Those that a person accepted stay. The caller holds the lock of kinds in all
    stores of the place.
    """
    ids = {session for _, session in gone}

    def is_gone(fact: Fact) -> bool:
        return (fact.host, fact.session) in gone and fact.status != ACCEPTED

    removed = sum(facts.remove_facts(each, is_gone) for each in place.stores())
    _LOG.rewrite(f"{store.local}/{FILE}", lambda each: None if each.session in ids else each)
    for session in ids:
        sessions.forget_shown(store, session)
    prompt_log.remove(store)  # it quotes what was found in sessions
    dismissals.remove(
        store,
        lambda each: (
            (each.host, each.session) in gone or (each.source_host, each.source_session) in gone
        ),
    )
    handoff.write(store, [each for each in handoff.read(store) if each.session not in ids])
    rules = [rule for rule in standing_rules.read(store) if rule.session not in ids]
    standing_rules.write(store, rules)
    return removed
