"""Forget a session: nothing of it is recalled, and it is not read again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.core.errors import RejectedError
from memfs.core.facts import ACCEPTED, Fact
from memfs.ingest import transcripts
from memfs.ops.sessions import find_session
from memfs.recall import index_sources
from memfs.store import (
    facts,
    inventory,
    lock,
    prompt_log,
    recall,
    session_outcomes,
    sessions,
    spool,
    standing_rules,
)

if TYPE_CHECKING:
    from memfs.core.records import Origin
    from memfs.ops.sessions import RecordedSession
    from memfs.store.blocks import Place
    from memfs.store.store_paths import Store


@dataclass(frozen=True)
class ForgottenSession:
    """How many messages went with a session, and how many facts that nobody had accepted."""

    id: str
    messages: int
    facts: int


def run(place: Place, ident: str, origin: Origin) -> ForgottenSession:
    """Remove a session from recall, the index, the graph and the facts; it is not read again.

    The next search makes the index anew, so that no deleted text stays in its files.
    Facts that a person accepted stay, and so does what stands in blocks and in the archive. The
    host's own transcript is not touched. Raises `NotFoundError`, and `RejectedError` for an agent.
    """
    if origin.actor == "agent":
        raise RejectedError("a session is forgotten by a person", "ask the user to do it")
    found, path = find_session(place, ident)
    store = place.home
    with lock.hold_lock(store, name=transcripts.LOCK):
        messages = sum(1 for _ in recall.messages(path))
        for note, host, _, name in spool.list_notes(store):
            if host == found.host and name == found.id:
                spool.remove_note(note)
        recall.forget(store, found.host, found.id)
    gone = sum(_remove_facts(each, found) for each in place.stores())
    session_outcomes.remove_session(store, found.id)
    sessions.forget_shown(store, found.id)
    prompt_log.remove(store)  # it quotes what was found in sessions
    rules = [rule for rule in standing_rules.read(store) if rule.session != found.id]
    standing_rules.write(store, rules)
    with lock.hold_lock(store, name=index_sources.LOCK):
        inventory.remove_indexes(store)  # what is deleted in one stays in its files
    return ForgottenSession(found.id, messages, gone)


def _remove_facts(store: Store, session: RecordedSession) -> int:
    """Remove the facts that a session stated, but for those that a person accepted."""

    def is_gone(fact: Fact) -> bool:
        return (fact.session, fact.host) == (session.id, session.host) and fact.status != ACCEPTED

    with lock.hold_lock(store, name=facts.LOCK):
        return sum(facts.remove_facts(path, is_gone) for path in facts.sources(store))
