"""Merge the front matter of two block files by rule, key by key.

A key that one side changed is taken as that side wrote it, comments and all; where both changed it
lists are united and of other values the one of the side with the newer `updated_at` is taken
(`version` decides if that is the same, then ours). A key that one side removed and the other
changed stays. Lines that find no place in the result (of a head that is no YAML, for one) are
handed back: they belong into the body.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memfs.core import frontmatter, merge_lines, yaml_edit, yaml_fast

_LONGEST_HEAD = 20_000  # characters; ruamel.yaml takes half a second for them, several times
_MOST_VERSION = 10**15
_ITEM = re.compile(r" *- ")
_BY_NEWEST = ("updated_at", "updated_by")
_BY_RULE_ALONE = ("version:", "updated_at:", "updated_by:")


@dataclass(frozen=True)
class _Side:
    """One head: its values and, per key, the lines that hold it; None: unknown."""

    head: str
    meta: dict[str, object] | None
    parts: list[tuple[str, str]] | None  # ("", text): a comment or blank line between keys

    @property
    def texts(self) -> dict[str, str]:
        return {key: text for key, text in self.parts or [] if key}

    @property
    def values(self) -> dict[str, object]:
        return self.meta or {}


@dataclass
class _Choice:
    """The result of the rules: the lines of the keys, values to write over them, all values."""

    parts: list[tuple[str, str]] = field(default_factory=list)
    writes: dict[str, object] = field(default_factory=dict)
    expected: dict[str, object] = field(default_factory=dict)


class _NoPlaceError(Exception):
    """A value cannot be written into the other head as it is."""


def merge_heads(base: str, ours: str, theirs: str, eol: str) -> tuple[str, list[str]]:
    """Merge three heads without byte order marks: (the head, lines for the body)."""
    theirs = _set_eol(theirs, eol)
    old, left, right = _parse_side(base), _parse_side(ours), _parse_side(theirs)
    written = _merge_managed(left.values, right.values)
    if not ours or not theirs:
        return _set(ours or theirs, written, eol), []
    if left.meta is None or right.meta is None:
        return _merge_unread(old, left, right, written, eol)
    if _is_same(ours, base):
        return _set(theirs, written, eol), []
    if _is_same(theirs, base) or _is_same(ours, theirs):
        return _set(ours, written, eol), []
    made = _merge_by_rule(old, left, right, eol)
    if made is not None:
        return made, []
    head = _set(ours, written, eol)
    return head, _list_lost_lines(base, theirs, head)


def is_mergeable(head: str) -> bool:
    """Tell whether a head is front matter that can be merged by rule."""
    return _read(head) is not None


def _merge_unread(
    old: _Side, left: _Side, right: _Side, written: dict[str, object], eol: str
) -> tuple[str, list[str]]:
    """Merge where a head is no YAML: the readable one is the result; of two broken ones, all."""
    ours, theirs = left.head, right.head
    if left.meta is None and right.meta is None:
        before, mine, other = (frontmatter.strip_fences(head) for head in (old.head, ours, theirs))
        start = ours.index("\n") + 1
        merged = merge_lines.merge_texts(before, mine, other, eol)
        made = ours[:start] + merged + ours[start + len(mine) :]
        if frontmatter.split(made)[0] == made:
            return made, []
        return ours, merge_lines.list_added_lines(ours, theirs)
    kept, lost = (ours, theirs) if right.meta is None else (theirs, ours)
    return _set(kept, written, eol), _list_lost_lines(old.head, lost, kept)


def _list_lost_lines(base: str, head: str, made: str) -> list[str]:
    """Return the lines that a side added to its head and that the merged head does not hold."""
    lines = merge_lines.list_added_lines(base, frontmatter.strip_fences(head))
    decided = tuple(key for key in _BY_RULE_ALONE if f"\n{key}" in made)
    lines = [line for line in lines if not line.startswith(decided)]
    return merge_lines.list_added_lines(made, "\n".join(lines))


def _parse_side(head: str) -> _Side:
    meta = _read(head)
    parts = None if meta is None else _split_keys(frontmatter.strip_fences(head))
    known = parts is not None and [key for key, _ in parts if key] == list(meta or {})
    return _Side(head, meta, parts if known else None)


def _read(head: str) -> dict[str, object] | None:
    if not head or len(head) > _LONGEST_HEAD:
        return None
    text = frontmatter.strip_fences(head)
    found = yaml_fast.read(text)
    if found is None:
        found, problem = yaml_edit.read(text)
        if problem:
            return None
    return found


def _split_keys(inner: str) -> list[tuple[str, str]]:
    """Cut front matter into keys with their lines, and the comment and blank lines between."""
    parts: list[tuple[str, str]] = []
    last = -1  # the part of the last key
    for line in re.findall(r"[^\n]*\n", inner):
        if line[0] in "#\r\n":
            parts.append(("", line))
        elif line[0] in " \t-]}" and last >= 0:
            text = "".join(text for _, text in parts[last:]) + line
            parts[last:] = [(parts[last][0], text)]
        else:
            key = line.partition(":")[0].strip()
            quoted = len(key) > 2 and key[0] == key[-1] and key[0] in "\"'"
            last = len(parts)
            parts.append((key[1:-1] if quoted else key, line))
    return parts


def _merge_managed(ours: dict[str, object], theirs: dict[str, object]) -> dict[str, object]:
    """Return `version`, `updated_at` and `updated_by` of the merge."""
    first, second = (theirs, ours) if _rank(theirs) > _rank(ours) else (ours, theirs)
    found: dict[str, object] = {}
    for key in _BY_NEWEST:
        value = first.get(key, second.get(key))
        if _is_writable(value):
            found[key] = value
    versions = [v for v in (_get_version(ours), _get_version(theirs)) if v >= 0]
    if versions:
        found["version"] = max(versions) + 1
    return found


def _get_version(meta: dict[str, object]) -> int:
    found = meta.get("version")
    valid = isinstance(found, int) and not isinstance(found, bool) and 0 <= found < _MOST_VERSION
    return found if valid and isinstance(found, int) else -1


def _rank(meta: dict[str, object]) -> tuple[float, int]:
    """Order two sides by age: when they were written, then by version."""
    try:
        at = datetime.fromisoformat(str(meta.get("updated_at", "")).strip())
        seconds = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        seconds = -math.inf
    return seconds, _get_version(meta)


def _merge_by_rule(old: _Side, left: _Side, right: _Side, eol: str) -> str | None:
    """Merge two heads key by key. None: it did not come out as the rules want it."""
    if left.parts is None or right.parts is None:
        return None
    choice = _Choice()
    newer = _rank(right.values) > _rank(left.values)
    try:
        for key, text in left.parts:
            chosen = _choose(key, old, left, right, newer, choice, eol) if key else text
            if chosen:
                choice.parts.append((key, chosen))
        _insert_new(old, left, right, newer, choice, eol)
    except (_NoPlaceError, ValueError):  # the latter: numbers with thousands of digits
        return None
    inner = frontmatter.strip_fences(left.head)
    start = left.head.index("\n") + 1
    made = left.head[:start] + "".join(text for _, text in choice.parts)
    made += left.head[start + len(inner) :]
    if frontmatter.split(made)[0] != made:
        return None
    choice.writes |= _merge_managed(left.values, right.values)
    choice.expected |= choice.writes
    made = _set(made, choice.writes, eol)
    return made if _is_equal(_read(made), choice.expected) else None


def _choose(
    key: str, old: _Side, left: _Side, right: _Side, newer: bool, choice: _Choice, eol: str
) -> str:
    """Return the lines of one key in the result ("": none); record its value in `choice`."""
    before, mine, other = (side.texts.get(key, "") for side in (old, left, right))
    was, value, its = (side.values.get(key) for side in (old, left, right))
    as_theirs = _is_same(mine, before) or not mine
    if _is_same(mine, other) or _is_same(other, before) or (not other and not as_theirs):
        as_theirs = False
    elif not as_theirs and not _is_equal(value, its) and not (before and _is_equal(its, was)):
        if isinstance(value, list) and isinstance(its, list):
            if not _is_valid_text(mine + other):
                raise _NoPlaceError
            return _unite(key, mine, (was, value, its), choice, eol)
        as_theirs = newer or bool(before and _is_equal(value, was))
        if as_theirs and "#" in mine and _is_writable(its) and _is_valid_text(other):
            choice.writes[key] = choice.expected[key] = its  # the comments of ours stay beside it
            return mine
    text = other if as_theirs else mine
    if text:
        choice.expected[key] = its if as_theirs else value
    return text


def _unite(
    key: str, mine: str, lists: tuple[object, list[object], list[object]], choice: _Choice, eol: str
) -> str:
    """Unite two lists; what one side removed and the other only kept is gone."""
    was, value, its = lists
    old = {repr(item) for item in was} if isinstance(was, list) else set()
    seen, there = {repr(item) for item in value}, {repr(item) for item in its}
    stay = [item for item in value if repr(item) in there or repr(item) not in old]
    new = [item for item in its if repr(item) not in seen and repr(item) not in old]
    united = stay + list({repr(item): item for item in new}.values())
    choice.expected[key] = united
    if _is_equal(united, value):
        return mine
    lines = mine.splitlines()
    block = all(_ITEM.match(line) or line.lstrip(" ").startswith("#") for line in lines[1:])
    if _is_writable(united) and len(stay) == len(value) and len(lines) > 1 and block:
        indent = lines[-1][: len(lines[-1]) - len(lines[-1].lstrip(" "))]
        return mine + "".join(
            f"{indent}- {yaml_edit.scalar(item)}{eol}" for item in united[len(stay) :]
        )
    if _is_writable(united):
        choice.writes[key] = united
        return mine
    try:
        return f"{key}: {json.dumps(united, ensure_ascii=False, allow_nan=False)}{eol}"
    except (ValueError, TypeError) as error:
        raise _NoPlaceError from error


def _insert_new(
    old: _Side, left: _Side, right: _Side, newer: bool, choice: _Choice, eol: str
) -> None:
    """Insert the keys and comments that only theirs has, behind the same line as there."""
    known = {_to_lf(text) for side in (old, left) for key, text in side.parts or [] if not key}
    mine = left.texts
    at = -1  # the place in the result of the last part of theirs
    for key, text in right.parts or []:
        if not text.strip():
            continue
        if key in mine or (not key and _to_lf(text) in known):
            found = [(name, name or _to_lf(lines)) for name, lines in choice.parts]
            target = (key, key or _to_lf(text))
            at = found.index(target) if target in found else at
            continue
        chosen = _choose(key, old, left, right, newer, choice, eol) if key else text
        if chosen:
            at = at + 1 if at >= 0 or not key else len(choice.parts)
            choice.parts.insert(at, (key, chosen))


def _set(head: str, changes: dict[str, object], eol: str) -> str:
    return yaml_edit.write(head, changes, eol) if head and _read(head) is not None else head


def _is_writable(value: object) -> bool:
    """Tell whether `yaml_edit.write` writes exactly this value."""
    if isinstance(value, list):
        return all(isinstance(item, str) and _is_writable(item) for item in value)
    if isinstance(value, str):
        return value == " ".join(value.split()) and _is_valid_text(value)
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and (isinstance(value, bool) or abs(value) < _MOST_VERSION)


def _is_valid_text(text: str) -> bool:
    """Tell whether a text is free of bytes that are no UTF-8: YAML readers replace them."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _is_equal(one: object, other: object) -> bool:
    """Tell whether two values are equal, types included: 1 is neither True nor 1.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_equal, one, other))
    return one == other


def _to_lf(text: str) -> str:
    return text.replace("\r\n", "\n")


def _is_same(one: str, other: str) -> bool:
    return _to_lf(one) == _to_lf(other)


def _set_eol(text: str, eol: str) -> str:
    return _to_lf(text).replace("\n", eol)
