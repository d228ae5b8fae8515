"""Merge two texts by line against their base.

Not diff3: where both sides changed a region, a line of the base stays if both kept it, and what
both wrote there is joined: first ours, then theirs, what both wrote once.
"""

import difflib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_MOST_LINES = 4_000  # difflib takes about a second for twice as many lines, each changed
_MOST_BETWEEN = 400  # lines between two that are unique in huge texts
_MOST_PAIRS = 100_000  # of equal lines: difflib looks for what is more at rare lines alone
# Lines that need no blank line between them: list items, table rows, quotes, indented lines.
_TIGHT = re.compile(r"\s|[-*+|>]|\d{1,9}[.)]")
_BOTH, _OURS, _THEIRS, _DROPPED = "both", "ours", "theirs", "dropped"


@dataclass(slots=True)
class _Line:
    key: str  # the line without its end
    end: str
    origin: str

    @property
    def blank(self) -> bool:
        return not self.key.strip()

    @property
    def live(self) -> bool:
        return self.origin != _DROPPED


@dataclass(frozen=True, slots=True)
class _Hunk:
    """One side has `lines` where the base has its lines `start` to `end`."""

    start: int
    end: int
    lines: list[_Line]
    mine: bool


def merge_texts(base: str, ours: str, theirs: str, eol: str) -> str:
    """Merge three texts. Lines of ours keep their bytes, new ones of theirs end in `eol`."""
    if theirs in (base, ours):
        return ours
    old = [line.key for line in _parse(base, _BOTH)]
    left, right = _parse(ours, _OURS), _parse(theirs, _THEIRS)
    for line in right:
        line.end = eol
    out = _weave(old, left, right)
    _balance(out, old, left, right)
    return _render([line for line in out if line.live], eol, newline=_has_eol(base, ours, theirs))


def list_added_lines(base: str, text: str) -> list[str]:
    """Return the lines of `text`, without their ends, that `base` does not hold; none is blank."""
    old = {line.key for line in _parse(base, _BOTH)}
    return [line.key for line in _parse(text, _BOTH) if not line.blank and line.key not in old]


def is_same(one: str, other: str) -> bool:
    """Tell whether two texts are the same but for the ends of their lines."""
    return one == other or set_eol(one, "\n") == set_eol(other, "\n")


def set_eol(text: str, eol: str) -> str:
    """Return a text whose lines all end in `eol`."""
    return text.replace("\r\n", "\n").replace("\n", eol)


def _parse(text: str, origin: str) -> list[_Line]:
    pieces = text.split("\n")
    last = pieces.pop()
    lines = []
    for piece in pieces:
        end = "\r\n" if piece.endswith("\r") else "\n"
        lines.append(_Line(piece.removesuffix("\r"), end, origin))
    if last:
        lines.append(_Line(last, "", origin))
    return lines


def _has_eol(base: str, ours: str, theirs: str) -> bool:
    """Tell whether the merge ends in a line end; a side without text does not count."""
    first, second = (text.endswith("\n") for text in (ours or theirs, theirs or ours))
    return first if first == second else not base.endswith("\n")


def _render(lines: list[_Line], eol: str, *, newline: bool) -> str:
    if lines:
        last = lines.pop()
        end = (last.end or eol) if newline else ""
        return "".join(line.key + (line.end or eol) for line in lines) + last.key + end
    return ""


def _weave(base: Sequence[str], ours: list[_Line], theirs: list[_Line]) -> list[_Line]:
    """Return every line of both sides in order; duplicates are marked as dropped."""
    hunks = _find_hunks(base, ours, mine=True) + _find_hunks(base, theirs, mine=False)
    out: list[_Line] = []
    at = shift = 0  # how far the kept lines of ours are from their places in the base
    for group in _group(sorted(hunks, key=lambda hunk: (hunk.start, hunk.end, not hunk.mine))):
        out += _mark_unchanged(ours, at + shift, group[0].start + shift)
        out += _merge_group(group)
        at = max(hunk.end for hunk in group)
        shift += sum(len(hunk.lines) - hunk.end + hunk.start for hunk in group if hunk.mine)
    return out + _mark_unchanged(ours, at + shift, len(base) + shift)


def _mark_unchanged(ours: list[_Line], start: int, end: int) -> list[_Line]:
    for line in ours[start:end]:
        line.origin = _BOTH
    return ours[start:end]


def _find_hunks(base: Sequence[str], side: list[_Line], *, mine: bool) -> list[_Hunk]:
    found = []
    at = low = 0
    for start, place, count in [
        *_match_runs(base, [line.key for line in side]),
        (len(base), len(side), 0),
    ]:
        if at < start or low < place:
            found.append(_Hunk(at, start, side[low:place], mine))
        at, low = start + count, place + count
    return found


def _group(hunks: list[_Hunk]) -> Iterator[list[_Hunk]]:
    """Gather hunks that touch: between two groups there is a line that both sides kept."""
    group: list[_Hunk] = []
    end = -1
    for hunk in hunks:
        if group and hunk.start > end:
            yield group
            group = []
        group.append(hunk)
        end = max(end, hunk.end)
    if group:
        yield group


def _merge_group(group: list[_Hunk]) -> list[_Line]:
    """Merge the hunks of one region: in order of place; where they overlap, ours first."""
    parts: list[tuple[list[_Line], list[_Line]]] = []
    end = -1
    point = False  # whether the last part is a mere insertion
    for hunk in group:
        inserts = hunk.start == hunk.end
        if hunk.start > end or (hunk.start == end and not (point and inserts)) or not parts:
            parts.append(([], []))
            point = inserts
        parts[-1][0 if hunk.mine else 1].extend(hunk.lines)
        end = max(end, hunk.end)
    aligned = [_align(ours, theirs) for ours, theirs in parts]
    spare: Counter[str] = Counter()
    for (ours, _), pairs in zip(parts, aligned, strict=True):
        anchors = {place for place, _ in pairs}
        spare.update(
            line.key for place, line in enumerate(ours) if place not in anchors and not line.blank
        )
    out: list[_Line] = []
    for (ours, theirs), pairs in zip(parts, aligned, strict=True):
        anchors = {place for _, place in pairs}
        for place, line in enumerate(theirs):
            if place in anchors:
                line.origin = _DROPPED
            elif spare[line.key] > 0:
                spare[line.key] -= 1
                line.origin = _DROPPED
        out += _interleave(ours, theirs, pairs)
    return out


def _align(ours: list[_Line], theirs: list[_Line]) -> list[tuple[int, int]]:
    """Pair the lines that both sides wrote in the same order; blank ones are not paired."""
    if not ours or not theirs:
        return []
    keys = [
        [f"\n{side}{place}" if line.blank else line.key for place, line in enumerate(lines)]
        for side, lines in enumerate((ours, theirs))
    ]
    return [
        (start + step, place + step)
        for start, place, count in _match_runs(*keys)
        for step in range(count)
    ]


def _interleave(
    ours: list[_Line], theirs: list[_Line], pairs: list[tuple[int, int]]
) -> list[_Line]:
    out: list[_Line] = []
    left = right = 0
    for mine, other in [*pairs, (len(ours), len(theirs))]:
        out += _join_sides(ours[left:mine], theirs[right:other])
        out += ours[mine : mine + 1] + theirs[other : other + 1]
        left, right = mine + 1, other + 1
    return out


def _join_sides(ours: list[_Line], theirs: list[_Line]) -> list[_Line]:
    """Join what both sides have in one place; blank lines around it do not double."""
    live = [line for line in theirs if line.live]
    gone = [line for line in theirs if not line.live]
    lead = _count_blanks(ours, live)
    first, second = ours[lead:], live[lead:]
    trail = _count_blanks(first[::-1], second[::-1])
    end, stop = len(first) - trail, len(second) - trail
    between = []
    if (lead or trail) and end > 0 and stop > 0:
        before, after = first[end - 1], second[0]
        loose = not (_TIGHT.match(before.key) and _TIGHT.match(after.key))
        if loose and not before.blank and not after.blank:
            between = [_Line("", after.end, _THEIRS)]  # else two paragraphs become one
    return ours[:lead] + first[:end] + between + second[:stop] + first[end:] + gone


def _count_blanks(first: Sequence[_Line], second: Sequence[_Line]) -> int:
    count = 0
    for one, other in zip(first, second, strict=False):
        if not (one.blank and other.blank):
            break
        count += 1
    return count


def _balance(out: list[_Line], base: list[str], ours: list[_Line], theirs: list[_Line]) -> None:
    """Correct the number of copies of lines that were moved.

    A line that both sides moved, each to another place, would be there twice; one of which both
    moved different copies to the same place would be there once too few.
    """
    counts = Counter(base), Counter(x.key for x in ours), Counter(x.key for x in theirs)
    excess = Counter(line.key for line in out if line.live and not line.blank)
    for key, count in excess.items():
        old, mine, other = (counter[key] for counter in counts)
        both = mine > old and other > old
        most = mine + other - old if both else max(mine, other)
        least = max(mine, other) if min(mine, other) >= old else 0
        excess[key] = max(count - most, 0) or min(count - least, 0)
    for line in reversed(out):
        if excess[line.key] > 0 and line.origin == _THEIRS:
            excess[line.key] -= 1
            line.origin = _DROPPED
        elif excess[line.key] < 0 and not line.live:
            excess[line.key] += 1
            line.origin = _THEIRS


def _match_runs(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return the common runs of two lists as (place in one, place in other, length), in order."""
    most = min(len(one), len(other))
    head = tail = 0
    while head < most and one[head] == other[head]:
        head += 1
    while tail < most - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    end, stop = len(one) - tail, len(other) - tail
    middle = _match_middle(one[head:end], other[head:stop])
    found = [(head + start, head + place, count) for start, place, count in middle]
    return [run for run in ((0, 0, head), *found, (end, stop, tail)) if run[2]]


def _match_middle(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int, int]]:
    """Match with difflib; what is too long for it by unique lines, and with difflib between them.

    What neither matches counts as rewritten: the merge then holds more than it would have to.
    """
    often, again = Counter(one), Counter(other)
    if len(one) + len(other) <= _MOST_LINES:
        pairs = sum(count * again[key] for key, count in often.items())
        matcher = difflib.SequenceMatcher(None, one, other, autojunk=pairs > _MOST_PAIRS)
        return [(at, place, size) for at, place, size in matcher.get_matching_blocks() if size]
    found = []
    left = right = 0
    for start, place in [*_match_unique(one, other, often, again), (len(one), len(other))]:
        if start - left + place - right <= _MOST_BETWEEN:
            inner = _match_middle(one[left:start], other[right:place])
            found += [(left + at, right + to, count) for at, to, count in inner]
        found.append((start, place, int(start < len(one))))
        left, right = start + 1, place + 1
    return found


def _match_unique(
    one: Sequence[str], other: Sequence[str], often: Counter[str], again: Counter[str]
) -> list[tuple[int, int]]:
    """Return the longest row of lines that both lists hold once, in the order of both."""
    places = {key: place for place, key in enumerate(other) if again[key] == often[key] == 1}
    ends: list[int] = []
    rows: list[tuple[int, int]] = []  # per length of row: (place in one, place in other)
    before: dict[int, tuple[int, int]] = {}
    for at, key in enumerate(one):
        if key in places:
            place = places[key]
            length = bisect_left(ends, place)
            if length:
                before[at] = rows[length - 1]
            if length == len(ends):
                ends.append(place)
                rows.append((at, place))
            else:
                ends[length], rows[length] = place, (at, place)
    found = []
    step = rows[-1] if rows else None
    while step:
        found.append(step)
        step = before.get(step[0])
    return found[::-1]
