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
from memfs.core.facts import ACTIVE, SUPERSEDED, Fact
from memfs.memory import extraction
from memfs.store import facts as stored
from memfs.store import lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memfs.core.records import Message
    from memfs.store.blocks import Place
    from memfs.store.layout import Store

_ALIKE = 0.93  # cosine from which on two statements say the same
_PERSONAL = ("identity", "preference")  # of the user, not of the project
_ALSO = re.compile(r"i\b|i'm\b", re.IGNORECASE)  # an environment that is the user's
_LOSES = ("preference", "decision", "environment")  # what "X instead of Y" speaks against
_SHORT = 12  # words of a statement that is about one thing
_LOOKED_AT = 5000
_NEAR = 0.3  # cosine from which on a fact has to do with a task
_WORD = re.compile(r"[\w.+#-]+")
_NUMBERS = re.compile(r"\d+")


def extracted(messages: Iterable[Message]) -> list[Fact]:
    """Return the facts in messages, in their order; the same message gives the same ids."""
    found = []
    for message in messages:
        if message.side:
            continue
        for stated in extraction.facts(message):
            if edits.secret("keep", "a fact", stated.statement):
                continue
            found.append(
                Fact(
                    _ident(message, stated.statement), stated.statement, stated.confidence,
                    stated.category, stated.entities, stated.relations, stated.key, stated.over,
                    message.host, message.session, message.id, message.at,
                )
            )  # fmt: skip
    return found


def add(place: Place, new: Sequence[Fact]) -> list[Fact]:
    """Store facts that are new, and mark those that they supersede; return what was added.

    What is about the user goes into the user's store, the rest into the project's.
    """
    added: list[Fact] = []
    stores = {tier: store for tier, store in place.tiers() if tier != labels.SESSION}
    for tier, store in stores.items():
        other = labels.USER in stores and labels.PROJECT in stores
        mine = [fact for fact in new if not other or _is_personal(fact) == (tier == labels.USER)]
        if mine:
            with lock.hold(store, name=stored.LOCK):
                added += _added(store, mine)
    return added


def _is_personal(fact: Fact) -> bool:
    theirs = fact.category == "environment" and _ALSO.match(fact.statement)
    return fact.category in _PERSONAL or bool(theirs)


def _added(store: Store, new: Sequence[Fact]) -> list[Fact]:
    known = stored.every(store)
    statements = {_folded(fact.statement) for fact in known.values()}
    fresh: list[Fact] = []
    for fact in new:
        folded = _folded(fact.statement)
        if fact.id not in known and folded not in statements:
            statements.add(folded)
            fresh.append(fact)
    fresh = _unlike(list(known.values()), fresh)
    writes: dict[str, Fact] = {}
    for fact in fresh:
        for old in [*known.values(), *writes.values()]:
            if old.holds and old.id != fact.id and _contradicts(fact, old):
                writes[old.id] = replace(
                    old, status=SUPERSEDED, by=fact.id, revision=old.revision + 1
                )
                known.pop(old.id, None)
        writes[fact.id] = fact
    stored.add(store, writes.values())
    return [writes[fact.id] for fact in fresh]


def decide(place: Place, ident: str, status: str) -> Fact | None:
    """Accept, reject or reactivate a fact, named by its id or the start of it; None: not one."""
    for tier, store in place.tiers():
        if tier == labels.SESSION:
            continue
        with lock.hold(store, name=stored.LOCK):
            found = [f for i, f in stored.every(store).items() if i.startswith(ident)]
            if len(found) == 1:
                changed = replace(found[0], status=status, revision=found[0].revision + 1)
                stored.add(store, [changed])
                return changed
    return None


def every(place: Place) -> list[Fact]:
    """Return the facts of all tiers, the oldest first."""
    stores = {s.root: s for tier, s in place.tiers() if tier != labels.SESSION}.values()
    return [fact for store in stores for fact in stored.every(store).values()]


def matching(
    facts: Iterable[Fact], *, entities: Sequence[str] = (), pattern: str = "", since: str = "",
    until: str = "", confidence: float = 0.0, categories: Sequence[str] = (),
    statuses: Sequence[str] = (),
) -> list[Fact]:  # fmt: skip
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


def relevant(facts: Sequence[Fact], task: str, limit: int) -> list[tuple[float, Fact]]:
    """Return the facts that a task is about, the nearest first, with how near (0 to 1) each is.

    Of very many, the latest are looked at.
    """
    some = [fact for fact in facts if fact.holds][-_LOOKED_AT:]
    if not some or not task.strip():
        return []
    from memfs.search.encoder import bundled

    vectors = bundled().encode([task, *(fact.statement for fact in some)]).vectors
    near = (vectors[1:] @ vectors[0]).tolist()
    found = sorted(zip(near, some, strict=True), key=lambda pair: -pair[0])
    return [(score, fact) for score, fact in found[:limit] if score >= _NEAR]


def summary(facts: Sequence[Fact]) -> str:
    """Return the facts that count by category, the surest first."""
    lines = []
    for category in dict.fromkeys([*extraction.CATEGORIES, *(f.category for f in facts)]):
        some = sorted(
            (f for f in facts if f.category == category and f.holds), key=lambda f: -f.confidence
        )
        if some:
            lines.append(f"## {category}")
            lines += [f"- {fact.statement}" for fact in some]
    return "\n".join(lines)


def _contradicts(new: Fact, old: Fact) -> bool:
    if old.at > new.at:
        return False
    if new.key and new.key == old.key and new.category == old.category:
        return True
    if not new.over or old.category not in _LOSES or old.status != ACTIVE:
        return False
    said = {word.strip(".`").casefold() for word in _WORD.findall(old.statement)}
    return len(said) <= _SHORT and bool(said.intersection(new.over))


def _unlike(known: Sequence[Fact], fresh: Sequence[Fact]) -> list[Fact]:
    """Leave out what says the same as a fact that is known, or that comes before."""
    if not fresh:
        return []
    import numpy as np

    from memfs.search.encoder import bundled

    every = [*known, *fresh]
    vectors = bundled().encode([fact.statement for fact in every]).vectors
    kept: list[int] = []
    for number in range(len(known), len(every)):
        fact, vector = every[number], vectors[number]
        near = np.concatenate((vectors[: len(known)] @ vector, vectors[kept] @ vector))
        alike = np.flatnonzero(near >= _ALIKE).tolist()
        places = [*range(len(known)), *kept]
        if fact.key or not any(_same_names(every[places[n]], fact) for n in alike):
            kept.append(number)
    return [every[number] for number in kept]


def _same_names(one: Fact, other: Fact) -> bool:
    """Tell whether two statements have the same names and numbers in them."""
    numbers = _NUMBERS.findall(one.statement) == _NUMBERS.findall(other.statement)
    return numbers and set(one.entities) == set(other.entities)


def _ident(message: Message, statement: str) -> str:
    said = f"{message.host}|{message.session}|{message.id}|{_folded(statement)}"
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:16]


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
