"""Texts laid out for a terminal: tables, wrapped lines, bars, marked words."""

from __future__ import annotations

import re
import shutil
import sys
import unicodedata
from typing import TYPE_CHECKING

import click

from memfs.cli.console import is_coloured, style
from memfs.core.block import WARN_AT
from memfs.core.escaping import defuse, flatten_text, make_plain
from memfs.core.invisible_characters import reveal_hidden

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BAR = 12  # cells
_NO_TERMINAL = 100  # columns, where there is none
_WIDEST = 100  # columns of running text
_NARROWEST = 8  # cells of a column that is wrapped
_LEAST_CUT = 20  # cells of a column that is cut


class StyledText(str):
    """A text that holds our own colours; its parts were made plain before."""

    __slots__ = ()


def columns() -> int:
    """Return the width of the terminal, 100 where there is none."""
    return shutil.get_terminal_size((_NO_TERMINAL, 24)).columns


def bar(share: float) -> str:
    """Draw a usage bar: green, yellow from 80 %, red from 100 %."""
    filled = min(BAR, round(share * BAR))
    colour = "red" if share >= 1 else "yellow" if share >= WARN_AT else "green"
    return StyledText(style("█" * filled, colour) + style("░" * (BAR - filled), "bright_black"))


def table(
    rows: Iterable[Sequence[str]], right: tuple[int, ...] = (), cut: int | None = None
) -> str:
    """Align rows in columns, the first row a head; `right` names columns aligned right.

    On a terminal the table fits: the column `cut` is cut to the room that is left, and others are
    wrapped by words. Into a pipe every row is one whole line.
    """
    cells = [
        [cell if isinstance(cell, StyledText) else _flatten(cell) for cell in row] for row in rows
    ]
    if not cells:
        return ""
    widths = [max(width(row[index]) for row in cells) for index in range(len(cells[0]))]
    if sys.stdout.isatty():
        fixed = {at for row in cells for at, cell in enumerate(row) if isinstance(cell, StyledText)}
        _fit(widths, columns(), fixed, cut)
    lines = []
    for number, row in enumerate(cells):
        parts = [
            [shorten(cell, widths[at])] if at == cut else _split_cell(cell, widths[at])
            for at, cell in enumerate(row)
        ]
        for place in range(max(map(len, parts))):
            padded = []
            for at, part in enumerate(parts):
                text = part[place] if place < len(part) else ""
                space = " " * (widths[at] - width(text))
                padded.append(space + text if at in right else text + space)
            line = "  ".join(padded).rstrip()
            lines.append(style(line, "bright_black") if number == 0 else line)
    return "\n".join(lines)


def _fit(widths: list[int], room: int, fixed: set[int], cut: int | None) -> None:
    """Narrow columns until they fit into `room` cells: first `cut`, then the widest ones."""
    over = sum(widths) + 2 * (len(widths) - 1) - room
    if cut is not None and over > 0:
        less = max(0, min(over, widths[cut] - _LEAST_CUT))
        widths[cut] -= less
        over -= less
    others = [at for at in range(len(widths)) if at not in fixed and at != cut]
    while over > 0 and others:
        widest = max(others, key=lambda at: widths[at])
        if widths[widest] <= _NARROWEST:
            return
        widths[widest] -= 1
        over -= 1


def _split_cell(cell: str, room: int) -> list[str]:
    return [cell] if width(cell) <= room else fold(cell, room)


def _flatten(text: str) -> str:
    return reveal_hidden(flatten_text(text))


def width(text: str) -> int:
    """Return how many cells a text takes on a terminal (East Asian characters take two)."""
    bare = click.unstyle(text)
    if bare.isascii():
        return len(bare)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in bare)
    return len(bare) + wide - sum(unicodedata.combining(c) != 0 for c in bare)


def shorten(text: str, cells: int) -> str:
    """Cut a text to a number of cells, visibly."""
    flat = " ".join(_flatten(text).split())
    if width(flat) <= cells:
        return flat
    flat = flat[:cells]  # no character takes less than a cell, but for marks on others
    while flat and width(flat) > cells - 1:
        flat = flat[:-1]
    return flat.rstrip() + "…"


def fold(text: str, room: int) -> list[str]:
    """Split a line into lines of at most `room` cells, between words where that is possible."""
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


def wrap(text: str, indent: int) -> str:
    """Indent a text, and on a terminal wrap its lines."""
    lines = reveal_hidden(defuse(make_plain(text))).splitlines() or [""]
    if sys.stdout.isatty():
        room = max(20, min(columns(), _WIDEST) - indent)
        lines = [part for line in lines for part in _wrap_line(line, room)]
    return "\n".join(" " * indent + line for line in lines)


def _wrap_line(line: str, room: int) -> list[str]:
    """Fold a line; those after the first stand as deep as it does."""
    bare = line.lstrip(" ")
    lead = min(len(line) - len(bare), room // 2)
    return [" " * lead + part for part in fold(bare, room - lead)]


def highlight(text: str, query: str) -> str:
    """Mark the words of a query in a text, also in other forms of them."""
    if not is_coloured(sys.stdout):
        return text
    stems = {word[:-2] if len(word) > 5 else word for word in re.findall(r"\w{3,}", query.lower())}
    if not stems:
        return text
    pattern = rf"\b(?:{'|'.join(map(re.escape, sorted(stems, key=len, reverse=True)))})\w{{0,4}}\b"
    return re.sub(
        pattern, lambda found: click.style(found.group(), bold=True), text, flags=re.IGNORECASE
    )
