"""Lines of a text that contradict each other: the same words, but for one value."""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

from memfs.core import headings

_PART = re.compile(r"[^\s,;:()\[\]{}\"'`=*]+")
_FEWEST = 2  # words: fewer do not say what a value is of
_MOST = 2000  # lines that are compared
_EDGES, _MARKS = ".!?", "-+>#|"


class Contradiction(NamedTuple):
    """Two lines, by their numbers from 1, and the value that each of them gives."""

    first: int
    second: int
    one: str
    other: str


def find_contradictions(text: str) -> list[Contradiction]:
    """Return the pairs of lines with the same words but another value.

    A value has a digit. More than two such lines are a list that counts, and no contradiction; nor
    are two below different headings, which may be of different things, and what is code.
    """
    groups: dict[tuple[str, ...], list[tuple[int, str]]] = {}
    heading = ""
    marked = islice(headings.mark_code_lines(text), _MOST)
    for number, (line, is_code) in enumerate(marked, 1):
        if is_code:
            continue
        if line.lstrip(" ").startswith("#"):
            heading = f"{number}"
        parts = (part.strip(_EDGES).lower() for part in _PART.findall(line))
        words = [part for part in parts if part.strip(_MARKS)]
        values = [at for at, word in enumerate(words) if any(map(str.isdigit, word))]
        if len(values) == 1 and len(words) >= _FEWEST:
            at = values[0]
            key = (heading, *words[:at], "", *words[at + 1 :])
            groups.setdefault(key, []).append((number, words[at]))
    found = []
    for lines in groups.values():
        if len(lines) == 2 and lines[0][1] != lines[1][1]:
            (first, one), (second, other) = lines
            found.append(Contradiction(first, second, one, other))
    return found
