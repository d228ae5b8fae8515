"""Facts as a kind of memory: extracted, held against those that are known, and found again.

What says the same as a known fact is not stored. What contradicts one (the same key, or "X instead
of Y" where Y was stated) supersedes it: the old one is kept, and marked. What a person rejected
does not come back.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from memfs.core import edits
from memfs.core import label as labels
from memfs.core.facts import ACTIVE, ARCHIVED, REJECTED, SUPERSEDED, Fact
from memfs.knowledge.extraction import commands, prose, tool_output
from memfs.knowledge.extraction.calls import PendingCalls, is_failure
from memfs.knowledge.extraction.candidate import CATEGORIES
from memfs.recall import model_config
from memfs.search.text_vectors import embed_texts
from memfs.store import archive, lock
from memfs.store import facts as stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memfs.core.records import Message
    from memfs.knowledge.extraction.candidate import FactCandidate
    from memfs.store.blocks import Place
    from memfs.store.store_paths import Store

_ALIKE = 0.93  # cosine from which on two statements say the same
_LOSES = ("preference", "decision", "environment")  # what "X instead of Y" speaks against
_SHORT = 12  # words of a statement that is about one thing
_WORD = re.compile(r"[\w.+#-]+")
_NUMBERS = re.compile(r"\d+")


def extract_facts(messages: Iterable[Message]) -> list[Fact]:
    """Return the facts in messages, in their order; the same message gives the same ids."""
    waiting = PendingCalls()
    found = []
    for message in messages:
        if message.side:
            continue
        call = waiting.answered(message)
        if call and call.message and not is_failure(message.text):
            found += [
                extract_message(call.message, each)
                for each in commands.find_commit_subject(call.command)
            ]
        some = tool_output.facts(call, message) if call else prose.facts(message)
        found += [extract_message(message, each) for each in some]
    return drop_secrets(found)


def drop_secrets(found: Iterable[Fact]) -> list[Fact]:
    """Leave out the facts that hold a secret."""
    return [fact for fact in found if not edits.secret("keep", "a fact", fact.statement)]


def extract_message(message: Message, stated: FactCandidate) -> Fact:
    """Return what a message states as a fact; the same message gives the same ids."""
    return Fact(
        _ident(message, stated.statement),
        stated.statement,
        stated.confidence,
        stated.category,
        stated.entities,
        stated.relations,
        stated.key,
        stated.over,
        message.host,
        message.session,
        message.id,
        message.at,
        personal=stated.personal,
    )


def store_facts(place: Place, new: Sequence[Fact], *, unlike: bool = True) -> list[Fact]:
    """Store facts that are new, and mark those that they supersede; return what was added.

    What is about the user goes into the user's store, or nowhere; the rest into the project's, if
    there is one. Not `unlike`: what says the same in other words is stored, too.
    """
    new = sorted(new, key=lambda fact: fact.at)
    words = model_config.load_wanted(place).off
    added: list[Fact] = []
    for tier, store in place.lasting():
        alone = place.project is None
        mine = [fact for fact in new if alone or fact.personal == (tier == labels.USER)]
        if mine:
            with lock.hold_lock(store, name=stored.LOCK):
                added += _added(store, mine, unlike=unlike, words=words)
    return added


def _added(store: Store, new: Sequence[Fact], *, unlike: bool, words: bool) -> list[Fact]:
    every = stored.load_facts(store)
    counting = [f for f in every.values() if f.status not in (SUPERSEDED, ARCHIVED)]
    statements = {archive.merge_passages(fact.statement) for fact in counting}
    fresh = []
    for fact in new:
        folded = archive.merge_passages(fact.statement)
        if fact.id not in every and (folded not in statements or fact.key or fact.over):
            fresh.append(fact)
        statements.add(folded)
    standing = _Standing(counting)
    writes: dict[str, Fact] = {}
    for fact in _unlike(counting, fresh, words=words) if unlike else fresh:
        later = ""
        for old in standing.rivals(fact):
            if old.at > fact.at:
                later = old.id
            elif old.holds and archive.merge_passages(old.statement) == archive.merge_passages(
                fact.statement
            ):
                later = "same"
            elif old.holds:
                lost = replace(old, status=SUPERSEDED, by=fact.id, revision=old.revision + 1)
                writes[old.id] = lost
                standing.drop(old)
        if later == "same":
            continue
        writes[fact.id] = replace(fact, status=SUPERSEDED, by=later) if later else fact
        if not later:
            standing.put(fact)
    stored.write_facts(store, writes.values())
    return [fact for ident, fact in writes.items() if ident not in every]


class _Standing:
    """Facts that stand, by what they tell of: of many that have a key, few have the same."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._every: dict[str, Fact] = {}
        self._alike: dict[str, dict[str, Fact]] = {}  # by key, and by id
        for fact in facts:
            self.put(fact)

    def put(self, fact: Fact) -> None:
        self._every[fact.id] = fact
        self._alike.setdefault(fact.key, {})[fact.id] = fact

    def drop(self, fact: Fact) -> None:
        del self._every[fact.id]
        del self._alike[fact.key][fact.id]

    def rivals(self, new: Fact) -> list[Fact]:
        """Return the facts that cannot hold beside a new one, or say the same."""
        if not (new.key or new.over):
            return []
        some = self._every if new.over else self._alike.get(new.key, {})
        return [old for old in some.values() if old.holds and _contradicts(new, old)]


def decide_fact(place: Place, ident: str, status: str) -> Fact | None:
    """Accept, reject or reactivate a fact; None where no single one is named.

    It is named by its id, or by the beginning of one that no other fact has.
    """
    found = [
        (store, fact)
        for _, store in place.lasting()
        for fact in stored.load_facts(store).values()
        if fact.id.startswith(ident)
    ]
    exact = [pair for pair in found if pair[1].id == ident]
    if len(exact or found) != 1:
        return None
    store, fact = (exact or found)[0]
    with lock.hold_lock(store, name=stored.LOCK):
        now = stored.load_facts(store).get(fact.id, fact)
        changed = replace(now, status=status, revision=now.revision + 1)
        stored.write_facts(store, [changed])
    return changed


def list_facts(place: Place) -> list[Fact]:
    """Return the facts of all tiers, the oldest first."""
    return [fact for _, store in place.lasting() for fact in stored.load_facts(store).values()]


def select_facts(
    facts: Iterable[Fact],
    *,
    entities: Sequence[str] = (),
    pattern: str = "",
    since: str = "",
    until: str = "",
    confidence: float = 0.0,
    categories: Sequence[str] = (),
    statuses: Sequence[str] = (),
) -> list[Fact]:
    """Return the facts that have all that is asked; those that count unless `statuses` says else.

    An entity may be a part of a name; `pattern` is a regular expression over statements.
    """
    form = re.compile(pattern, re.IGNORECASE) if pattern else None
    wanted = [entity.casefold() for entity in entities]
    return [
        fact
        for fact in facts
        if (fact.status in statuses if statuses else fact.holds)
        and fact.confidence >= confidence
        and (not categories or fact.category in categories)
        and (not since or fact.at[: len(since)] >= since)
        and (not until or fact.at[: len(until)] <= until)
        and (not form or form.search(fact.statement))
        and all(any(w in e.casefold() for e in (*fact.entities, fact.statement)) for w in wanted)
    ]


def summary(facts: Sequence[Fact]) -> str:
    """Return the facts that count by category, the surest first."""
    lines = []
    for category in dict.fromkeys([*CATEGORIES, *(f.category for f in facts)]):
        some = sorted(
            (f for f in facts if f.category == category and f.holds), key=lambda f: -f.confidence
        )
        if some:
            lines.append(f"## {category}")
            lines += [f"- {fact.statement}" for fact in some]
    return "\n".join(lines)


def _contradicts(new: Fact, old: Fact) -> bool:
    if new.key and new.key == old.key and new.category == old.category:
        return True
    if old.at > new.at or old.category not in _LOSES or old.status != ACTIVE:
        return False
    said = {word.strip(".`").casefold() for word in _WORD.findall(old.statement)}
    return len(said) <= _SHORT and bool(said.intersection(new.over))


def _unlike(known: Sequence[Fact], fresh: Sequence[Fact], *, words: bool) -> list[Fact]:
    """Leave out what says the same as a fact that is known, or that comes before.

    Only statements with the same names and numbers in them can say the same. By meaning, or by
    their `words` alone.
    """
    rejected: dict[str, list[Fact]] = {}
    for fact in known:
        if fact.key and fact.status == REJECTED:
            rejected.setdefault(fact.key, []).append(fact)
    wanted = {_names(fact) for fact in fresh}
    some = [fact for fact in known if _names(fact) in wanted]
    every = [*some, *fresh]
    same = _by_words(every) if words or not fresh else _by_meaning(every)
    alike: dict[object, list[int]] = {}
    for number, fact in enumerate(some):
        alike.setdefault(_names(fact), []).append(number)
    kept = []
    for number in range(len(some), len(every)):
        fact = every[number]
        others = alike.setdefault(_names(fact), [])
        no = rejected.get(fact.key, ())
        if (not fact.key and same(number, others)) or any(_says(fact, each) for each in no):
            continue
        others.append(number)
        kept.append(fact)
    return kept


def _by_meaning(facts: Sequence[Fact]) -> Callable[[int, list[int]], bool]:
    """Return what tells whether a fact says the same as one of others, by their numbers."""
    vectors = embed_texts([fact.statement for fact in facts])
    return lambda one, others: bool(others and (vectors[others] @ vectors[one]).max() >= _ALIKE)


def _by_words(facts: Sequence[Fact]) -> Callable[[int, list[int]], bool]:
    said = [frozenset(_WORD.findall(fact.statement.casefold())) for fact in facts]
    return lambda one, others: any(said[one] == said[other] for other in others)


def _names(fact: Fact) -> object:
    """Return the names and numbers in a statement."""
    return frozenset(fact.entities), tuple(_NUMBERS.findall(fact.statement))


def _says(fact: Fact, other: Fact) -> bool:
    """Tell whether a statement has all words of another one."""
    words = set(_WORD.findall(fact.statement.casefold()))
    return set(_WORD.findall(other.statement.casefold())) <= words


def _ident(message: Message, statement: str) -> str:
    said = f"{message.host}|{message.session}|{message.id}|{archive.merge_passages(statement)}"
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:16]
