"""How wide texts are on a terminal, and lines that fit it."""

from __future__ import annotations

import shutil
import unicodedata

import click

_NO_TERMINAL = 100  # columns, where there is none


def columns() -> int:
    """Return the width of the terminal, 100 where there is none."""
    return shutil.get_terminal_size((_NO_TERMINAL, 24)).columns


def width(text: str) -> int:
    """Return how many cells a text takes on a terminal (East Asian characters take two)."""
    bare = click.unstyle(text)
    if bare.isascii():
        return len(bare)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in bare)
    return len(bare) + wide - sum(unicodedata.combining(c) != 0 for c in bare)


def fold(text: str, room: int) -> list[str]:
    """Split a line into lines of at most `room` cells, between words where that is possible."""
    if width(text) <= room:
        return [text]
    lines, line = [], ""
    for word in text.split():
        joined = f"{line} {word}" if line else word
        if width(joined) <= room:
            line = joined
            continue
        if line:
            lines.append(line)
        while width(word) > room:
            head = word[:room]
            while len(head) > 1 and width(head) > room:
                head = head[:-1]
            lines.append(head)
            word = word[len(head) :]  # noqa: PLW2901 - what is left of a long word
        line = word
    return [*lines, line] if line or not lines else lines


def fold_deep(line: str, room: int, deeper: int = 0) -> list[str]:
    """Fold a line; those after the first stand as deep as it does, and `deeper`."""
    bare = line.lstrip(" ")
    lead = min(len(line) - len(bare), room // 2)
    first, *rest = fold(bare, room - lead)
    more = fold(" ".join(rest), room - lead - deeper) if rest else []
    return [" " * lead + first, *(" " * (lead + deeper) + part for part in more)]
