"""Lines of a text that contradict each other: the same words, but for one value."""

from __future__ import annotations

import re
from typing import NamedTuple

_PART = re.compile(r"[^\s,;:()\[\]{}\"'`=*]+")
_FEWEST = 2  # words, or nothing tells what a value is of
_MOST = 2000  # lines that are held against each other
_EDGES, _MARKS = ".!?", "-+>#|"


class Contradiction(NamedTuple):
    """Two lines, by their numbers from 1, and what each of them says instead of the other."""

    first: int
    second: int
    one: str
    other: str


def find_contradictions(text: str) -> list[Contradiction]:
    """Return the pairs of lines that say the same of another value, each line with the next such.

    A value has a digit. Lines of a list that counts, in which several differ so, are none: what
    two sides of a merge said are two lines.
    """
    groups: dict[tuple[str, ...], list[tuple[int, str]]] = {}
    for number, line in enumerate(text.splitlines()[:_MOST], 1):
        parts = (part.strip(_EDGES).lower() for part in _PART.findall(line))
        words = [part for part in parts if part.strip(_MARKS)]
        values = [at for at, word in enumerate(words) if any(map(str.isdigit, word))]
        if len(values) == 1 and len(words) >= _FEWEST:
            at = values[0]
            key = (*words[:at], "", *words[at + 1 :])
            groups.setdefault(key, []).append((number, words[at]))
    found = []
    for said in groups.values():
        if len(said) == 2 and said[0][1] != said[1][1]:
            (first, one), (second, other) = said
            found.append(Contradiction(first, second, one, other))
    return found
