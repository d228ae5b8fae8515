"""Differences between two texts."""

import difflib
from collections.abc import Iterator

from memfs.core import frontmatter
from memfs.core.block import MANAGED

_MANAGED = tuple(f"{key}:" for key in MANAGED)
_MOST_PAIRS = 1_000_000  # of lines; comparing more can take seconds


def lines(before: str, after: str) -> Iterator[str]:
    """Yield the lines that went (`- `) and came (`+ `), with `…` between distant places."""
    old = before.split("\n") if before else []
    new = after.split("\n") if after else []
    first = True
    for old_start, old_end, new_start, new_end in find_replacements(old, new):
        if not first:
            yield "…"
        first = False
        yield from (f"- {line}" for line in old[old_start:old_end])
        yield from (f"+ {line}" for line in new[new_start:new_end])


def find_replacements(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield where lines differ: `old[a:b]` became `new[c:d]`, in order; all others are equal."""
    start = _count_common_prefix(old, new)
    end = _count_common_prefix(old[start:][::-1], new[start:][::-1])
    left, right = old[start : len(old) - end], new[start : len(new) - end]
    if len(left) * len(right) > _MOST_PAIRS:
        yield start, len(old) - end, start, len(new) - end
        return
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            yield start + a, start + b, start + c, start + d


def name_outcome(before: str | None, after: str | None) -> str:
    """Return what becomes of a file: created, updated, removed or unchanged; None is no file."""
    if before == after:
        return "unchanged"
    if before is None:
        return "created"
    return "removed" if after is None else "updated"


def format_diff(before: str, after: str, before_name: str, after_name: str) -> str:
    """Return a unified diff, three lines of context; "" if the texts are equal."""
    diff = difflib.unified_diff(split_lines(before), split_lines(after), before_name, after_name)
    out = []
    for line in diff:
        ended = line.endswith("\n")
        out.append(line if ended else line + "\n\\ no newline at the end of the file\n")
    return "".join(out)


def of_blocks(before: str | None, after: str | None, before_name: str, after_name: str) -> str:
    """Return a unified diff of two block files, without the keys that every edit changes."""
    return format_diff(_strip_managed(before), _strip_managed(after), before_name, after_name)


def _strip_managed(text: str | None) -> str:
    if text is None:
        return ""
    head, body = frontmatter.split(text)
    kept = [line for line in head.splitlines(keepends=True) if not line.startswith(_MANAGED)]
    return ("".join(kept) + body).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _count_common_prefix(some: list[str], others: list[str]) -> int:
    pairs = zip(some, others, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(some), len(others)))


def split_lines(text: str) -> list[str]:
    """Split at LF alone, line ends kept: `str.splitlines` knows ten more."""
    pieces = text.split("\n")
    return [piece + "\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])
