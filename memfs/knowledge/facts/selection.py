"""Selection of facts by conditions, and a summary of facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memfs.core.errors import UsageError
from memfs.core.records import Fact
from memfs.knowledge.facts.prose import CATEGORIES


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
    """Return the facts that match all conditions, only active ones unless `statuses` is given.

    Entities match parts of names, too; `pattern` is a regular expression over statements. Raises
    `UsageError` for one that is none.
    """
    try:
        form = re.compile(pattern, re.IGNORECASE) if pattern else None
    except re.error as error:
        raise UsageError(f"{pattern!r} is no regular expression: {error}") from error
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


def walk_relations(facts: Iterable[Fact], name: str, depth: int) -> list[Fact]:
    """Return the facts whose relations lead on from a name, the nearest first.

    Follows relations in both directions, at most `depth` of them; letter case does not count.
    """
    edges = [
        (fact, {source.casefold(), target.casefold()})
        for fact in facts
        if fact.holds
        for source, _, target in fact.relations
    ]
    reached = {name.casefold()}
    found: dict[str, Fact] = {}
    for _ in range(depth):
        some = [(fact, ends) for fact, ends in edges if ends & reached and fact.id not in found]
        if not some:
            break
        found |= {fact.id: fact for fact, _ in some}
        reached = reached.union(*(ends for _, ends in some))
    return list(found.values())


def format_summary(facts: Sequence[Fact]) -> str:
    """Format the active facts by category, those with the most confidence first."""
    lines = []
    for category, some in group_by_category(facts).items():
        lines.append(f"## {category}")
        lines += [f"- {fact.statement}" for fact in some]
    return "\n".join(lines)


def group_by_category(facts: Sequence[Fact]) -> dict[str, list[Fact]]:
    """Return the active facts by category, those with the most confidence first."""
    found = {}
    for category in dict.fromkeys([*CATEGORIES, *(f.category for f in facts)]):
        some = [fact for fact in facts if fact.category == category and fact.holds]
        if some:
            found[category] = sorted(some, key=lambda fact: -fact.confidence)
    return found
