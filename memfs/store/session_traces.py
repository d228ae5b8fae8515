"""What was derived from a session, beside its messages: it goes when they go."""

from __future__ import annotations

from memfs.core.facts import ACCEPTED, Fact
from memfs.store import facts, lock, prompt_log, session_outcomes, sessions, standing_rules
from memfs.store.blocks import Place
from memfs.store.store_paths import Store


def remove_traces(place: Place, store: Store, host: str, session: str) -> int:
    """Remove outcomes, rules, answers to prompts and facts of a session of a store.

    Returns the number of facts. Those that a person accepted stay.
    """
    gone = sum(_remove_facts(each, host, session) for each in place.stores())
    session_outcomes.remove_session(store, session)
    sessions.forget_shown(store, session)
    prompt_log.remove(store)  # it quotes what was found in sessions
    rules = [rule for rule in standing_rules.read(store) if rule.session != session]
    standing_rules.write(store, rules)
    return gone


def _remove_facts(store: Store, host: str, session: str) -> int:
    def is_gone(fact: Fact) -> bool:
        return (fact.session, fact.host) == (session, host) and fact.status != ACCEPTED

    with lock.hold_lock(store, name=facts.LOCK):
        return sum(facts.remove_facts(path, is_gone) for path in facts.sources(store))
