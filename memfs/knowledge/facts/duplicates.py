"""Facts that say the same in other words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memfs.core.facts import REJECTED, Fact
from memfs.search.text_vectors import embed_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_ALIKE = 0.93  # cosine from which on two statements say the same
_WORD = re.compile(r"[\w.+#-]+")
_NUMBERS = re.compile(r"\d+")


def drop_duplicates(known: Sequence[Fact], fresh: Sequence[Fact], *, words: bool) -> list[Fact]:
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
