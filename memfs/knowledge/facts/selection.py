"""Selection of facts by conditions, and a summary of facts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memfs.knowledge.facts.extraction.candidate import CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memfs.core.facts import Fact


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

    Entities match parts of names, too; `pattern` is a regular expression over statements.
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
