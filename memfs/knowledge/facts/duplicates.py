"""Detection of facts with the same meaning in other words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from memfs.core.records import REJECTED, Fact
from memfs.search.text_vectors import embed_texts

_ALIKE = 0.93  # least cosine of two statements with the same meaning
_WORD = re.compile(r"[\w.+#-]+")
_NUMBERS = re.compile(r"\d+")


def drop_duplicates(known: Sequence[Fact], fresh: Sequence[Fact], *, words: bool) -> list[Fact]:
    """Return the `fresh` facts that duplicate no known or earlier one, and no rejected one.

    Duplicates have the same names and numbers, and similar vectors; the same `words` if that is
    set.
    """
    rejected: dict[str, list[Fact]] = {}
    for fact in known:
        if fact.key and fact.status == REJECTED:
            rejected.setdefault(fact.key, []).append(fact)
    wanted = {_extract_names(fact) for fact in fresh}
    some = [fact for fact in known if _extract_names(fact) in wanted]
    every = [*some, *fresh]
    same = _compare_by_words(every) if words or not fresh else _compare_by_meaning(every)
    alike: dict[object, list[int]] = {}
    for number, fact in enumerate(some):
        alike.setdefault(_extract_names(fact), []).append(number)
    kept = []
    for number in range(len(some), len(every)):
        fact = every[number]
        others = alike.setdefault(_extract_names(fact), [])
        no = rejected.get(fact.key, ())
        if (not fact.key and same(number, others)) or any(_includes(fact, each) for each in no):
            continue
        others.append(number)
        kept.append(fact)
    return kept


def _compare_by_meaning(facts: Sequence[Fact]) -> Callable[[int, list[int]], bool]:
    """Return a function that compares a fact with others, given as indexes into `facts`."""
    vectors = embed_texts([fact.statement for fact in facts])
    return lambda one, others: bool(others and (vectors[others] @ vectors[one]).max() >= _ALIKE)


def _compare_by_words(facts: Sequence[Fact]) -> Callable[[int, list[int]], bool]:
    words = [frozenset(_WORD.findall(fact.statement.casefold())) for fact in facts]
    return lambda one, others: any(words[one] == words[other] for other in others)


def _extract_names(fact: Fact) -> object:
    """Return the names and numbers in a statement."""
    return frozenset(fact.entities), tuple(_NUMBERS.findall(fact.statement))


def _includes(fact: Fact, other: Fact) -> bool:
    """Return whether a statement has all words of another one."""
    words = set(_WORD.findall(fact.statement.casefold()))
    return set(_WORD.findall(other.statement.casefold())) <= words
