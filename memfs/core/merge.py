"""Merge two versions of a block file, and mend one that git left with conflict markers in it.

Nothing that either side wrote is dropped, except where front matter can have one of two values.
"""

from memfs.core import front_matter_lines, frontmatter, merge_lines, yaml_edit
from memfs.core.changes import split_lines

_BOM = frontmatter.BOM
_START, _BASE, _MIDDLE, _END = "<<<<<<<", "|||||||", "=======", ">>>>>>>"


def merge(base: str | None, ours: str, theirs: str) -> str:
    """Merge three versions of a block file; `base` None or "": both sides added it.

    Where only one side changed something the result is that side, to the byte. Otherwise it has the
    line ends of ours, and whatever either side wrote is in it.
    """
    base = base or ""
    if ours == base:
        return theirs
    if merge_lines.is_same(theirs, base) or merge_lines.is_same(ours, theirs):
        return ours
    eol = frontmatter.line_end(ours if "\n" in ours else theirs)
    if merge_lines.is_same(ours, base):
        return merge_lines.set_eol(theirs, eol)
    sides = base, _resolve_head(ours), _resolve_head(theirs)
    texts = [_drop_outdated(side) for side in sides]
    before, mine, other = map(_split, texts)
    head, left_over = merge_heads(before[0], mine[0], other[0], eol)
    left, right = (_strip_head(_split(base)[0], *parts) for parts in (mine, other))
    body = merge_lines.merge_texts(before[1], left, right, eol)
    body = _append_missing(body, left_over, eol)
    if head and body and not head.endswith("\n"):
        head += eol
    marks = [text.startswith(_BOM) for text in texts]
    mark = any(marks[1:]) if not base or marks[1] == marks[2] else not marks[0]
    return (_BOM if mark else "") + head + body


def resolve(text: str) -> str | None:
    """Merge the sides of a file with git's conflict markers; None without a whole conflict."""
    mark = _BOM if text.startswith(_BOM + _START) else ""
    sides = _split_conflict(text.removeprefix(mark))
    if sides is None:
        return None
    merged = merge(*sides)
    return merged if merged.startswith(mark) else mark + merged


def _split_conflict(text: str) -> tuple[str, str, str] | None:
    """Split a conflicted text into base, ours and theirs; None if that cannot be done.

    Without a base in it (git writes one only for `merge.conflictStyle` diff3 and zdiff3) the base
    is what surrounds the conflicts: then a line that one side deleted and the other left stays.
    """
    base: list[str] = []
    ours: list[str] = []
    theirs: list[str] = []
    into = [base, ours, theirs]
    state, found = "", False
    for line in split_lines(text):
        marker = _parse_marker(line)
        if not marker or (not state and marker in (_BASE, _MIDDLE)):
            for side in into:  # outside a conflict the last two are ordinary text
                side.append(line)
            continue
        if marker not in _NEXT[state]:
            return None
        found = True
        state = marker if marker != _END else ""
        into = {_START: [ours], _BASE: [base], _MIDDLE: [theirs]}.get(state, [base, ours, theirs])
    if state or not found:
        return None
    return "".join(base), "".join(ours), "".join(theirs)


_NEXT: dict[str, tuple[str, ...]] = {
    "": (_START,),
    _START: (_BASE, _MIDDLE),
    _BASE: (_MIDDLE,),
    _MIDDLE: (_END,),
}


def _parse_marker(line: str) -> str:
    """Return the conflict marker on a line, or an empty string."""
    found = line[:7]
    if found not in (_START, _BASE, _MIDDLE, _END):
        return ""
    rest = line[7:].rstrip("\r\n")
    return found if not rest or (rest[0] == " " and found != _MIDDLE) else ""


def _split(text: str) -> tuple[str, str]:
    """Split a text into front matter, without a byte order mark, and body."""
    head, body = frontmatter.split(text)
    return head.removeprefix(_BOM), body


def _drop_outdated(text: str) -> str:
    """Drop the keys that the journal knows better, but not a head that has no others."""
    made = yaml_edit.drop_outdated(text)
    return made if _split(made)[0] or not _split(text)[0] else text


def _resolve_head(text: str) -> str:
    head = _split(text)[0]
    if not head or is_mergeable(head) or not any(map(_parse_marker, split_lines(head))):
        return text
    return resolve(text) or text


def _strip_head(known: str, head: str, body: str) -> str:
    """Remove the lines of a known head from the top of a body that lost a fence."""
    if head or not known:
        return body
    lines = {line.rstrip("\r\n") for line in split_lines(known)}
    at = 0
    for line in split_lines(body):
        if line.rstrip("\r\n") not in lines:
            break
        at += len(line)
    return body[at:]


def _append_missing(body: str, lines: list[str], eol: str) -> str:
    new = merge_lines.list_added_lines(body, "\n".join(lines))
    if not new:
        return body
    end = "" if not body or body.endswith("\n") else eol
    return body + end + eol.join(new) + eol


_LONGEST_HEAD = 20_000  # characters: it is read several times


class _Side:
    """One head: its values, and the lines of each key; of the key "": a comment or blank line."""

    def __init__(self, head: str) -> None:
        inner = frontmatter.strip_fences(head)
        self.head = head
        long = len(head) > _LONGEST_HEAD
        self.values, problem = ({}, "too long") if long else yaml_edit.read(inner)
        self.readable = bool(head) and not problem
        self.parts = front_matter_lines.split_keys(inner) if self.readable else []
        self.texts = {key: text for key, text in self.parts if key}


def merge_heads(base: str, ours: str, theirs: str, eol: str) -> tuple[str, list[str]]:
    """Merge three heads without byte order marks, key by key: (the head, lines for the body).

    A key that one side changed is taken as that side wrote it, comments and all; where both changed
    it lists are united, and of other values ours is taken. A key that one side removed and the
    other changed stays. Lines that find no place in the result (of a head that is no YAML, for one)
    belong into the body.
    """
    theirs = merge_lines.set_eol(theirs, eol)
    old, left, right = _Side(base), _Side(ours), _Side(theirs)
    if not ours or not theirs:
        return ours or theirs, []
    if not left.readable or not right.readable:
        return _merge_unread(old, left, right, eol)
    if merge_lines.is_same(ours, base):
        return theirs, []
    if merge_lines.is_same(theirs, base) or merge_lines.is_same(ours, theirs):
        return ours, []
    made = _merge_by_rule(old, left, right, eol)
    return (made, []) if made else (ours, _list_lost_lines(base, theirs, ours))


def is_mergeable(head: str) -> bool:
    """Tell whether a head is front matter that can be merged by rule."""
    return _Side(head).readable


def _merge_unread(old: _Side, left: _Side, right: _Side, eol: str) -> tuple[str, list[str]]:
    """Merge where a head is no YAML: the readable one is the result; of two broken ones, all."""
    ours, theirs = left.head, right.head
    if left.readable or right.readable:
        kept, lost = (ours, theirs) if left.readable else (theirs, ours)
        return kept, _list_lost_lines(old.head, lost, kept)
    before, mine, other = (frontmatter.strip_fences(each.head) for each in (old, left, right))
    made = _put_between(ours, merge_lines.merge_texts(before, mine, other, eol))
    return (made, []) if made else (ours, merge_lines.list_added_lines(ours, theirs))


def _put_between(head: str, inner: str) -> str:
    """Return a head with other lines between its fences; "" if that would end it elsewhere."""
    start = head.index("\n") + 1
    made = head[:start] + inner + head[start + len(frontmatter.strip_fences(head)) :]
    return made if frontmatter.split(made)[0] == made else ""


def _list_lost_lines(base: str, head: str, made: str) -> list[str]:
    """Return the lines that a side added to its head and that the merged head does not hold."""
    lines = merge_lines.list_added_lines(base, frontmatter.strip_fences(head))
    lines = [line for line in lines if not yaml_edit.is_outdated(line)]
    return merge_lines.list_added_lines(made, "\n".join(lines))


def _merge_by_rule(old: _Side, left: _Side, right: _Side, eol: str) -> str:
    """Merge two heads key by key. "": it did not come out as the rules want it."""
    if any(list(side.texts) != list(side.values) for side in (left, right)):
        return ""
    texts: dict[str, str] = {}
    values: dict[str, object] = {}
    try:
        for key in left.texts | right.texts:
            text, value = _choose(key, old, left, right, eol)
            if text:
                texts[key], values[key] = text, value
    except ValueError:
        return ""
    made = _put_between(left.head, _join(old, left, right, texts))
    writable = {key: each for key, each in values.items() if _is_writable(each)}
    made = yaml_edit.write(made, writable, eol) if made else ""
    return made if made and yaml_edit.is_equal(_Side(made).values, values) else ""


def _choose(key: str, old: _Side, left: _Side, right: _Side, eol: str) -> tuple[str, object]:
    """Return the lines of one key in the result ("": none), and the value that it is to have."""
    before, mine, other = (side.texts.get(key, "") for side in (old, left, right))
    was, value, its = (side.values.get(key) for side in (old, left, right))
    if merge_lines.is_same(mine, other) or merge_lines.is_same(other, before):
        return mine, value
    if merge_lines.is_same(mine, before) or not mine:
        return other, its
    equal = yaml_edit.is_equal
    if not other or equal(value, its) or (before and equal(its, was)):
        return mine, value
    valid = not any("\ud800" <= char <= "\udfff" for char in mine + other)  # readers replace them
    if isinstance(value, list) and isinstance(its, list):
        if not valid:
            raise ValueError(key)
        return _unite(mine, was, value, its, eol)
    if not (before and equal(value, was)):
        return mine, value
    return mine if "#" in mine and valid and _is_writable(its) else other, its


def _unite(
    mine: str, was: object, value: list[object], its: list[object], eol: str
) -> tuple[str, list[object]]:
    """Unite two lists; what one side removed and the other only kept is gone."""
    old = set(map(repr, was)) if isinstance(was, list) else set()
    seen, there = set(map(repr, value)), set(map(repr, its))
    stay = [item for item in value if repr(item) in there or repr(item) not in old]
    new = list({repr(item): item for item in its if repr(item) not in seen | old}.values())
    items = mine.splitlines()[1:]
    is_block = all(line.lstrip(" ").startswith(("- ", "#")) for line in items)
    if items and is_block and len(stay) == len(value) and all(map(_is_writable, new)):
        indent = items[-1][: len(items[-1]) - len(items[-1].lstrip(" "))]
        mine += "".join(f"{indent}- {yaml_edit.scalar(item)}{eol}" for item in new)
    return mine, stay + new


def _join(old: _Side, left: _Side, right: _Side, texts: dict[str, str]) -> str:
    """Join the lines of keys and comments in an order merged as lines are; blank ones are ours."""
    known = {f"={key}": text for key, text in texts.items()}  # texts by the line for each
    orders = []
    for side in (old, right, left):
        order = []
        for at, (key, text) in enumerate(side.parts):
            if key and key in texts:
                if side is not old or (key in left.texts and key in right.texts):
                    order.append(f"={key}")
            elif not key and (side is left or text.strip()):
                order.append(text.strip() or f" {at}")
                known[order[-1]] = text
        orders.append("\n".join(order))
    before, other, mine = orders
    merged = merge_lines.merge_texts(before, mine, other, "\n").split("\n")
    merged += [f"={key}" for key in texts]  # each key once, wherever it moved
    return "".join(
        known.pop(name, "") if name[:1] == "=" else known.get(name, "") for name in merged
    )


def _is_writable(value: object) -> bool:
    """Tell whether `yaml_edit.write` writes exactly this value."""
    return value is not None and yaml_edit.is_equal(yaml_edit.as_read(value), value)
