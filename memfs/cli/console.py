"""What people see: data on stdout, talk on stderr, colour only where it helps.

Whatever is printed for people is made visible here, and nowhere else.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
import time
import unicodedata
from collections import deque
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from memfs.core.block import WARN_AT
from memfs.core.escaping import defuse, flatten_text, make_plain
from memfs.core.invisible_characters import reveal_hidden

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

BAR = 12  # cells
_state = {"code": 0}
# Halves of characters but for those that stand for a byte, which is written as it is.
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")


class StyledText(str):
    """A text that holds our own colours; its parts were made plain before."""

    __slots__ = ()


def data(text: str) -> None:
    """Print data: as it is into a pipe or file, with nothing hidden in it on a terminal."""
    print_text(text + "\n")


def print_piece(text: str) -> None:
    """Print a part of a text that goes on."""
    sys.stdout.write(reveal_hidden(make_plain(text)) + "\n" * (text.endswith("\n")))
    sys.stdout.flush()


def print_text(text: str) -> None:
    """Print a file's text, byte by byte where it does not go to a terminal."""
    if sys.stdout.isatty():
        text = reveal_hidden(make_plain(text.rstrip("\n"))) + "\n"
    text = _HALF.sub("?", text)
    encoding = sys.stdout.encoding or "utf-8"
    errors = "surrogateescape" if encoding.lower().replace("-", "") == "utf8" else "replace"
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode(encoding, errors))
    sys.stdout.flush()


def write_bytes(data: bytes) -> None:
    """Write bytes to stdout."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.flush()


def as_json(value: object) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(value, indent=2))


def talk(text: str) -> None:
    """Print one line for the person at the terminal, to stderr."""
    echo(flatten_text(text), err=True)


def print_done(text: str) -> None:
    """Print one line that something was done, to stderr."""
    echo(f"{style('✓', 'green', err=True)} {flatten_text(text)}", err=True)


def error(message: str, hint: str = "") -> None:
    """Print an error and its hint to stderr. Nothing else prints errors."""
    echo(f"{style('error:', 'red', err=True)} {flatten_text(message)}", err=True)
    if hint:
        echo(f"{style('hint:', 'cyan', err=True)} {flatten_text(hint)}", err=True)


def refuse() -> None:
    """Make the command end with exit code 1, once it has run to its end."""
    _state["code"] = 1


def exit_code() -> int:
    """Return the exit code that `refuse` set, and reset it."""
    code, _state["code"] = _state["code"], 0
    return code


def style(text: str, colour: str, *, bold: bool = False, err: bool = False) -> str:
    """Colour a text where that stream shows colours (`NO_COLOR` and pipes do not)."""
    stream = sys.stderr if err else sys.stdout
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return text
    return click.style(text, fg=colour or None, bold=bold)


def bar(share: float) -> str:
    """Draw a usage bar: green, yellow from 80 %, red from 100 %."""
    filled = min(BAR, round(share * BAR))
    colour = "red" if share >= 1 else "yellow" if share >= WARN_AT else "green"
    return StyledText(style("█" * filled, colour) + style("░" * (BAR - filled), "bright_black"))


def table(rows: Iterable[Sequence[str]], right: tuple[int, ...] = ()) -> str:
    """Align rows in columns, the first row a head; `right` names columns aligned right."""
    cells = [
        [cell if isinstance(cell, StyledText) else _flatten(cell) for cell in row] for row in rows
    ]
    if not cells:
        return ""
    widths = [max(width(row[index]) for row in cells) for index in range(len(cells[0]))]
    lines = []
    for number, row in enumerate(cells):
        padded = []
        for index, cell in enumerate(row):
            space = " " * (widths[index] - width(cell))
            padded.append(space + cell if index in right else cell + space)
        line = "  ".join(padded).rstrip()
        lines.append(style(line, "bright_black") if number == 0 else line)
    return "\n".join(lines)


def _flatten(text: str) -> str:
    return reveal_hidden(flatten_text(text))


def width(text: str) -> int:
    """Return how many cells a text takes on a terminal (East Asian characters take two)."""
    bare = click.unstyle(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in bare)
    return len(bare) + wide - sum(unicodedata.combining(c) != 0 for c in bare)


def shorten(text: str, cells: int) -> str:
    """Cut a text to a number of cells, visibly."""
    flat = " ".join(_flatten(text).split())
    if width(flat) <= cells:
        return flat
    while flat and width(flat) > cells - 1:
        flat = flat[:-1]
    return flat.rstrip() + "…"


@contextmanager
def progress(length: int, label: str) -> Iterator[Callable[[int], object]]:
    """Show a progress bar on stderr, if that is a terminal; yields the function to advance it."""
    with stages() as stage:
        yield stage(label, length)


@contextmanager
def stages(
    in_bytes: tuple[str, ...] = (), check: Callable[[], object] = lambda: None
) -> Iterator[Callable[[str, int], Progress]]:
    """Show one progress bar after another: the yielded `stage(label, length)` begins the next.

    The stages in `in_bytes` count bytes; a length of 0 is unknown. `check` is called at each
    progress (see `deferred_interrupt`).
    """
    shown: list[Progress] = []

    def stage(label: str, length: int) -> Progress:
        if shown:
            shown[-1].clear()
        shown.append(
            Progress(label, length, format_size if label in in_bytes else "{:,.0f}".format, check)
        )
        return shown[-1]

    try:
        yield stage
    finally:
        if shown:
            shown[-1].clear()


class Progress:
    """One line of a terminal: how much is done, how fast lately, and how long the rest takes."""

    _EVERY = 0.1  # seconds
    _LATELY = 100  # lines that were shown: ten seconds

    def __init__(
        self,
        label: str,
        length: int,
        unit: Callable[[float], str],
        check: Callable[[], object] = lambda: None,
    ) -> None:
        self._check = check
        self._label = label
        self._length = length
        self._unit = unit
        self._done = 0
        self._shown = False
        self._lately = deque([(time.monotonic(), 0)], self._LATELY)

    def __call__(self, more: int) -> None:
        self._check()
        self._done += more
        now = time.monotonic()
        if sys.stderr.isatty() and now - self._lately[-1][0] >= self._EVERY:
            self._lately.append((now, self._done))
            sys.stderr.write(f"\r{reveal_hidden(self.render_line())}\x1b[K")
            sys.stderr.flush()
            self._shown = True

    def render_line(self) -> str:
        """Render label, bar, amount, rate and time left."""
        (first, before), (last, now) = self._lately[0], self._lately[-1]
        rate = (now - before) / (last - first) if last > first else 0.0
        done, speed = self._unit(now), f"{self._unit(rate)}/s"
        if not self._length:
            return f"{self._label}  {done}  {speed}"
        share = min(1.0, now / self._length)
        filled = round(share * BAR)
        drawn = style("█" * filled, "green", err=True) + "░" * (BAR - filled)
        left = duration((self._length - now) / rate) + " left" if rate and share < 1 else ""
        amount = f"{done} of {self._unit(self._length)}"
        return f"{self._label}  {drawn} {share:4.0%}  {amount}  {speed}  {left}"

    def clear(self) -> None:
        """Erase the line."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False


def duration(seconds: float) -> str:
    """Write a time span for people: 40 s, 3:20 min, 2:05 h."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02} h"


def columns() -> int:
    """Return the width of the terminal, 100 where there is none."""
    return shutil.get_terminal_size((100, 24)).columns


def format_age(at: str) -> str:
    """Return how long ago an ISO time was: `just now`, `5 min ago`, `3 h ago`, else the date."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return at or "-"
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    fixed = os.environ.get("MEMFS_NOW")
    now = datetime.fromisoformat(fixed) if fixed else datetime.now(UTC)
    seconds = (now - moment).total_seconds()
    if 0 <= seconds < 60:
        return "just now"
    if 0 <= seconds < 3600:
        return f"{seconds // 60:.0f} min ago"
    if 0 <= seconds < 86400:
        return f"{seconds // 3600:.0f} h ago"
    return moment.astimezone().strftime("%Y-%m-%d")


def day(at: str) -> str:
    """Return the local day of a time in UTC; other text is cut to its first ten characters."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return at[:10]
    return moment.astimezone().strftime("%Y-%m-%d") if moment.tzinfo else at[:10]


def format_count(number: int, noun: str) -> str:
    """Write a number with its noun: 1 file, 2 files."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def format_size(count: float) -> str:
    """Write a number of bytes for people."""
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def echo(text: str, *, err: bool = False) -> None:
    """Print a text with our own colours; the caller made its parts plain."""
    click.echo(reveal_hidden(text), err=err, color=True)


def wrap(text: str, indent: int) -> str:
    """Indent a text, and on a terminal wrap its lines."""
    lines = reveal_hidden(defuse(make_plain(text))).splitlines() or [""]
    if sys.stdout.isatty():
        room = max(20, min(columns(), 100) - indent)
        lines = [part for line in lines for part in textwrap.wrap(line, room) or [""]]
    return "\n".join(" " * indent + line for line in lines)
