"""Texts laid out for a terminal: tables, lines, bars, differences, sizes and ages in words."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from memfs.cli import console
from memfs.cli.console import columns, fold_deep, is_coloured, style, width
from memfs.core import formats
from memfs.core.block import WARN_AT
from memfs.core.escaping import defuse, flatten_text, make_plain
from memfs.core.formats import format_time
from memfs.core.injection_signs import reveal_hidden
from memfs.store import clock

if TYPE_CHECKING:
    from memfs.ops.sessions import SessionMessage

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}

BAR = 12  # cells
_WIDEST = 100  # columns of running text
_NARROWEST = 24  # cells of a column that is cut, if its words are as long
_SHORT = 10  # cells of a column that is never narrower: numbers, ages, sizes
_GAP = 2  # cells between columns
_LEAST_CUT, _LEAST = 20, 4  # cells of a column that is cut; where others need the room


class StyledText(str):
    """A text that holds our own colours; its parts were made plain before."""

    __slots__ = ()


def bar(share: float) -> str:
    """Draw a usage bar: green, yellow from 80 %, red from 100 %."""
    filled = min(BAR, round(share * BAR))
    colour = "red" if share >= 1 else "yellow" if share >= WARN_AT else "green"
    return StyledText(style("█" * filled, colour) + style("░" * (BAR - filled), "bright_black"))


def table(
    rows: Iterable[Sequence[str]],
    right: tuple[int, ...] = (),
    cut: int | None = None,
    drop: tuple[int, ...] = (),
) -> str:
    """Align rows in columns, the first row a head; `right` names columns aligned right.

    On a terminal the table fits: bars go, then the columns `drop` until `cut` has room, then cells
    are cut, those of the column `cut` first. Into a pipe every row is one whole line.
    """
    cells = [
        [cell if isinstance(cell, StyledText) else _flatten(cell) for cell in row] for row in rows
    ]
    if not cells:
        return ""
    kept = {at: max(width(row[at]) for row in cells) for at in range(len(cells[0]))}
    if sys.stdout.isatty() and _add_widths(kept, _GAP) > columns():
        bars = {at for row in cells for at, cell in enumerate(row) if isinstance(cell, StyledText)}
        for at in bars:  # their shares say the same
            del kept[at]
        least = {} if cut is None else {cut: min(kept[cut], _LEAST_CUT)}
        for at in drop:
            if _add_widths(kept | least, 1) > columns():
                del kept[at]
        cells = [[row[at] for at in kept] for row in cells]
        right = tuple(number for number, at in enumerate(kept) if at in right)
        cut = [*kept].index(cut) if cut is not None else None
    widths, gap = [*kept.values()], _GAP
    if sys.stdout.isatty():
        words = [
            max(width(each) for row in cells for each in row[at].split() or [""])
            for at in range(len(widths))
        ]
        gap = _fit(widths, words, columns(), cut)
    lines, between = [], " " * gap
    for number, row in enumerate(cells):
        padded = []
        for at, cell in enumerate(row):
            text = cell if width(cell) <= widths[at] else shorten(cell, widths[at])
            space = " " * (widths[at] - width(text))
            padded.append(space + text if at in right else text + space)
        line = between.join(padded).rstrip()
        lines.append(style(line, "bright_black") if number == 0 else line)
    return "\n".join(lines)


def _add_widths(widths: dict[int, int], gap: int) -> int:
    return sum(widths.values()) + gap * (len(widths) - 1)


def _fit(widths: list[int], words: list[int], room: int, cut: int | None) -> int:
    """Narrow columns until they fit into `room` cells: first `cut`, then the widest ones.

    Return the cells between columns: one where there is no room for two. `words` are the widths of
    the longest words. Those of a usual length are cut last, and what is short never.
    """
    short = [min(cells, _SHORT) for cells in widths]
    whole = [max(least, min(word, _NARROWEST)) for least, word in zip(short, words, strict=True)]
    for gap, least, least_cut in ((_GAP, whole, _LEAST_CUT), (1, short, _LEAST)):
        over = sum(widths) + gap * (len(widths) - 1) - room
        if cut is not None:
            less = max(0, min(over, widths[cut] - least_cut))
            widths[cut] -= less
            over -= less
        others = [at for at in range(len(widths)) if at != cut]
        while over > 0 and (wide := [at for at in others if widths[at] > least[at]]):
            widths[max(wide, key=lambda at: widths[at])] -= 1
            over -= 1
        if over <= 0:
            return gap
    return 1


def _flatten(text: str) -> str:
    return reveal_hidden(flatten_text(text))


def shorten(text: str, cells: int) -> str:
    """Cut a text to a number of cells, visibly."""
    flat = " ".join(_flatten(text).split())
    if width(flat) <= cells:
        return flat
    flat = flat[:cells]  # no character takes less than a cell, but for marks on others
    while flat and width(flat) > cells - 1:
        flat = flat[:-1]
    return flat.rstrip() + "…"


def wrap(text: str, indent: int) -> str:
    """Indent a text, and on a terminal wrap its lines."""
    lines = reveal_hidden(defuse(make_plain(text))).splitlines() or [""]
    if sys.stdout.isatty():
        lines = [line.expandtabs(4) for line in lines]
        room = max(20, min(columns(), _WIDEST) - indent)
        lines = [part for line in lines for part in fold_deep(line, room)]
    return "\n".join(" " * indent + line for line in lines)


def format_head(text: str, indent: int = 0) -> str:
    """Return a heading in its colour, wrapped; its first line is not indented."""
    return style(wrap(flatten_text(text), indent).lstrip(" "), "cyan")


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


def print_diff(text: str) -> None:
    """Print a unified diff, in colours where stdout shows them."""
    for line in text.split("\n")[:-1]:
        colour = _COLOURS.get(line[:1], "")
        shown = flatten_text(line)
        console.echo(console.style(shown, colour) if colour else shown)


def format_duration(seconds: float) -> str:
    """Write a time span for people: 40 s, 3:20 min, 2:05 h."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02} h"


def format_age(at: str) -> str:
    """Return how long ago an ISO time was: `just now`, `5 min ago`, `3 h ago`, else the date."""
    return formats.format_age(at, clock.moment())


def format_size(count: float) -> str:
    """Write a number of bytes for people."""
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def shorten_path(path: str) -> str:
    """Write a path with `~` for the home folder."""
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path == home or path.startswith(home + os.sep) else path


_LONGEST = 2000  # characters of a message
_TOOL = 200  # characters of what a tool was given or said
_ROLE_COLOURS = {"user": "green", "assistant": "cyan"}


def print_messages(said: Iterable[SessionMessage], *, full: bool = False, marked: str = "") -> None:
    """Print messages with their turns; the one whose id is `marked` has an arrow."""
    turn = -1
    for each in said:
        message = each.message
        if each.turn != turn:
            turn = each.turn
            head = f"turn {turn}  {format_time(message.at)}"
            console.echo("\n" + console.style(flatten_text(head), "bright_black"))
        who = f"{message.who} {message.tool}".strip()
        arrow = "→ " if message.id == marked else "  "
        console.echo(arrow + console.style(flatten_text(who), _ROLE_COLOURS.get(message.role, "")))
        most = _TOOL if message.role == "tool" else _LONGEST
        text = message.text.strip()
        if not full and len(text) > most:
            text = f"{text[:most].rstrip()} … ({len(text):,} characters; --full shows all)"
        console.echo(wrap(text, 4))
