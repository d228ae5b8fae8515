"""Merge two versions of a block file, and mend one that git left with conflict markers in it.

Nothing that either side wrote is dropped, except where a rule for front matter picks one of two
values (`memfs.core.merge_frontmatter`). Texts are whole files decoded with `surrogateescape`.
"""

from __future__ import annotations

from memfs.core import frontmatter, merge_frontmatter, merge_lines

_BOM = frontmatter.BOM
_START, _BASE, _MIDDLE, _END = "<<<<<<<", "|||||||", "=======", ">>>>>>>"


def merge(base: str | None, ours: str, theirs: str) -> str:
    """Merge three versions of a block file; `base` None or "": both sides added it.

    Where only one side changed something the result is that side, bytes and version. Otherwise it
    has the line ends of ours and a version of its own, and whatever either side wrote is in it.
    """
    base = base or ""
    if ours == base:
        return theirs
    if merge_lines.is_same(theirs, base) or merge_lines.is_same(ours, theirs):
        return ours
    eol = frontmatter.line_end(ours if "\n" in ours else theirs)
    if merge_lines.is_same(ours, base):
        return merge_lines.set_eol(theirs, eol)
    texts = base, _resolve_head(ours), _resolve_head(theirs)
    before, mine, other = map(_split, texts)
    head, left_over = merge_frontmatter.merge_heads(before[0], mine[0], other[0], eol)
    left, right = (_strip_head(before[0], *parts) for parts in (mine, other))
    body = merge_lines.merge_texts(before[1], left, right, eol)
    body = _append_missing(body, left_over, eol)
    if head and body and not head.endswith("\n"):
        head += eol
    marks = [text.startswith(_BOM) for text in texts]
    mark = any(marks[1:]) if not base or marks[1] == marks[2] else not marks[0]
    return (_BOM if mark else "") + head + body


def resolve(text: str) -> str | None:
    """Make a file with git's conflict markers into the merge of both sides.

    None: it holds no whole conflict, or one that cannot be told apart (a marker that is missing,
    or one too many).
    """
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
    for line in _split_lines(text):
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


def _resolve_head(text: str) -> str:
    """Resolve the conflicts of a side that was committed with some in its front matter."""
    head = _split(text)[0]
    if (
        not head
        or merge_frontmatter.is_mergeable(head)
        or not any(map(_parse_marker, _split_lines(head)))
    ):
        return text
    return resolve(text) or text


def _strip_head(known: str, head: str, body: str) -> str:
    """Remove the lines of a known head from the top of a body that lost a fence."""
    if head or not known:
        return body
    lines = {line.rstrip("\r\n") for line in _split_lines(known)}
    at = 0
    for line in _split_lines(body):
        if line.rstrip("\r\n") not in lines:
            break
        at += len(line)
    return body[at:]


def _append_missing(body: str, lines: list[str], eol: str) -> str:
    """Append to a body those of `lines` that it does not hold."""
    new = merge_lines.list_added_lines(body, "\n".join(lines))
    if not new:
        return body
    end = "" if not body or body.endswith("\n") else eol
    return body + end + eol.join(new) + eol


def _split_lines(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines
