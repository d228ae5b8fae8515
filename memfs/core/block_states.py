"""The states of a block: how full and how fresh it is, and lines of it that contradict."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import islice
from typing import NamedTuple

from memfs.core import headings

_PART = re.compile(r"[^\s,;:()\[\]{}\"'`=*]+")
_FEWEST = 2  # words: fewer do not say what a value is of
_MOST = 2000  # lines that are compared
_EDGES, _LIST_MARKS = ".!?", "-+>#|"
_NAMED = re.compile(
    r"[ \t]*(?:[-*+] )?(?P<name>[^\W\d][^:=`\n]{0,40}?)[ \t]*:[ \t]+(?P<value>\S.*)"
)
# Names of which a block may have several.
_LISTED = re.compile(
    r"\b(?:todo|open|questions?|notes?|ideas?|bugs?|fix(?:ed)?|issues?|tasks?|steps?|examples?|see|"
    r"links?|sources?|urls?|files?|tips?|warnings?|important|decisions?|decided|done|next|rules?)\b",
    re.IGNORECASE,
)

_CONTENT = {
    "append": "populated",
    "create": "populated",
    "insert": "populated",
    "page-in": "populated",
    "remove": "reduced",
    "page-out": "reduced",
}


def describe_content(value: str, last_operation: str) -> str:
    """Return empty, populated, modified or reduced."""
    if not value.strip():
        return "empty"
    return _CONTENT.get(last_operation, "modified" if last_operation else "populated")


def freshness(referenced: str, now: str, days: int, *, paged_out: bool = False) -> str:
    """Return archived for a block that was paged out, else active, or stale.

    Stale: not referenced (edited, read, paged in) for so many days; with 0 days nothing is.
    """
    if paged_out:
        return "archived"
    try:
        age = _parse_time(now) - _parse_time(referenced)
    except ValueError:
        return "active"
    return "stale" if 0 < days <= age.days else "active"


def _parse_time(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class Contradiction(NamedTuple):
    """Two lines, by their numbers from 1, and the value that each of them gives."""

    first: int
    second: int
    one: str
    other: str


class ContradictedLine(NamedTuple):
    """A line of a block, by its number from 1, that a line added later contradicts."""

    label: str
    number: int
    text: str


def find_contradicted(label: str, before: str, after: str) -> list[ContradictedLine]:
    """Return the lines of a block that lines added to it contradict, also by the name of a value.

    `Name: Bob` contradicts `Name: Alice`.
    """
    old, lines = set(before.splitlines()), after.splitlines(keepends=True)
    found = []
    for pair in find_contradictions(after, named=True):
        stood = [at for at in (pair.first, pair.second) if lines[at - 1].rstrip("\r\n") in old]
        if len(stood) == 1:
            found.append(ContradictedLine(label, stood[0], lines[stood[0] - 1]))
    return found


def find_contradictions(text: str, *, named: bool = False) -> list[Contradiction]:
    """Return the pairs of lines with the same words but another value.

    A value has a digit; with `named` it may also be what stands behind a name and a colon. More
    than two such lines are a list that counts, and no contradiction; nor are two below different
    headings, which may be of different things, and what is code.
    """
    groups: dict[tuple[str, ...], list[tuple[int, str]]] = {}
    heading = ""
    marked = islice(headings.mark_code_lines(text), _MOST)
    for number, (line, is_code) in enumerate(marked, 1):
        if is_code:
            continue
        if line.lstrip(" ").startswith("#"):
            heading = f"{number}"
        pair = _NAMED.fullmatch(line.rstrip()) if named else None
        if pair and not _LISTED.search(pair["name"]):
            key = (heading, pair["name"].lower())
            groups.setdefault(key, []).append((number, pair["value"].strip().lower()))
            continue
        parts = (part.strip(_EDGES).lower() for part in _PART.findall(line))
        words = [part for part in parts if part.strip(_LIST_MARKS)]
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
