"""The states of a block: how full and how fresh it is, and lines of it that contradict."""

import re
from datetime import UTC, datetime
from itertools import islice
from typing import NamedTuple

from memfs.core import headings

_PART = re.compile(r"[^\s,;:()\[\]{}\"'`=*]+")
_MOST = 2000  # lines that are compared
_EDGES, _QUOTES = "-+>#|.!?", " .!?*`\"'"
# What has one value at a time, and what may stand before such a name.
_SINGLE = (
    r"name|port|version|timeout|python|node|java|editor|ide|shell|time ?zone|e-?mail|language|"
    r"employer|company|job(?: title)?|city|location|phone|birthday|age|host(?:name)?|"
    r"default branch|package manager|database|operating system|os"
)
_WHOSE = r"(?:my|your|the|user(?:'s)?|preferred|default|current|full|first|last|main|primary) "
# What follows says what a value is of: `9090 (staging)`.
_ABOUT = r"(?P<about>(?:[(,;]|[ \t](?:for|in|on|at|of|with|when|if|until|since|from)\b).*)?"
_NAMED = re.compile(
    rf"[ \t]*(?:[-*+] )?(?P<name>(?:{_WHOSE})*(?:{_SINGLE}))[ \t]*[:=][ \t]*"
    rf"(?P<value>[^\s(,;].*?){_ABOUT}",
    re.IGNORECASE,
)
_IN_WORDS = re.compile(
    r"(?P<name>.*\b(?:port|timeout)(?: is)?)[ \t]+(?P<value>\d[\w.]*)(?P<about>.*)", re.IGNORECASE
)
_PLACED = re.compile(
    r"[ \t]*(?:[-*+] )?(?:(?:the )?user |I )?(?P<name>works? (?:at|for)|lives? in)[ \t]+"
    # What follows may say that it is one of several, or of the past.
    r"(?P<value>(?-i:[A-Z])(?!.*(?:\b(?:until|till|on|and|or)\b|\d ?[-\u2013] ?\d)).*?)"
    r"(?:(?:[(,;.]| (?:as|now|since|from)\b).*)?",
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
    """A line (from 1) that a later one contradicts; it goes if `old`, which is unique, is `new`."""

    label: str
    number: int
    text: str
    old: str
    new: str


def find_contradicted(label: str, before: str, after: str) -> list[ContradictedLine]:
    """Return the lines of a body, with LF line ends, that lines added to it contradict."""
    old, lines = set(before.splitlines()), after.splitlines(keepends=True)
    found = []
    for pair in find_contradictions(after):
        stood = [at for at in (pair.first, pair.second) if lines[at - 1].rstrip("\n") in old]
        if len(stood) == 1:
            text = lines[stood[0] - 1].strip()
            found.append(ContradictedLine(label, stood[0], text, *_word_removal(lines, *stood)))
    return found


def _word_removal(lines: list[str], number: int) -> tuple[str, str]:
    """Return a text of whole lines that occurs once, and the same without one of the lines."""
    body, old, new = "".join(lines), "", ""
    for more in range(len(lines)):
        first = max(0, number - 1 - more)
        old = "".join(lines[first : number + more]).removesuffix("\n")
        others = lines[first : number - 1] + lines[number : number + more]
        new = "".join(others).removesuffix("\n")
        if body.count(old) == 1 and (not more or new.strip()):
            break
    return old, new


def find_contradictions(text: str) -> list[Contradiction]:
    """Return the pairs of lines that give what has one value two: `Name: Bob`, `Name: Alice`.

    More than two such lines are a list, and no contradiction; nor are two in different sections or
    below different items, which may be of different things, what is code, and `Bob Doe` for `Bob`.
    """
    groups: dict[tuple[object, ...], list[tuple[int, str]]] = {}
    section = 0
    above: list[tuple[int, int]] = []  # indents and numbers of lines
    marked = islice(headings.mark_code_lines(text), _MOST)
    for number, (line, is_code) in enumerate(marked, 1):
        if is_code or not line.strip():
            continue
        if headings.begins_section(line):
            section = number
        indent = headings.count_indent(line)
        while above and above[-1][0] >= indent:
            above.pop()
        forms = (each.fullmatch(line.rstrip()) for each in (_NAMED, _IN_WORDS, _PLACED))
        if pair := next(filter(None, forms), None):
            words = [_fold_words(pair["name"]), _fold_words(pair.groupdict().get("about") or "")]
            key = (section, above[-1][1] if above else 0, *words)
            groups.setdefault(key, []).append((number, pair["value"].strip(_QUOTES).lower()))
        above.append((indent, number))
    found = []
    for lines in groups.values():
        if len(lines) != 2:
            continue
        (first, one), (second, other) = lines
        if not (f"{one} ".startswith(f"{other} ") or f"{other} ".startswith(f"{one} ")):
            found.append(Contradiction(first, second, one, other))
    return found


def _fold_words(text: str) -> str:
    parts = (part.strip(_EDGES).lower() for part in _PART.findall(text))
    return " ".join(filter(None, parts))
