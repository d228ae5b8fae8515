"""What people see: data on stdout, talk on stderr, folded to the terminal, colour where it helps.

Whatever is printed for people is made visible here, and nowhere else. Long output goes through a
pager, as git's does: `PAGER`, or less.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO, TextIO, cast

import click

from memfs.core.escaping import flatten_text, make_plain
from memfs.core.injection_signs import reveal_hidden
from memfs.files import account

if TYPE_CHECKING:
    from subprocess import Popen


_LESS = "FRX"  # quits where all fits on the screen, keeps colours, and leaves the text there
_NO_TERMINAL = 100  # columns, where there is none

_state = {"code": 0, "quiet": 0, "paged": 0}
# What moves the cursor or writes elsewhere, where a text meets a terminal behind a pipe. It is
# printed as JSON has it, since some of these texts are JSON. So is what turns the text there, and
# letters that nobody sees.
_CONTROL = (  # compiled with the first text of a file
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]|\r(?!\n)"
)
# Halves of characters but for those that stand for a byte, which is written as it is.
_HALF = "[\ud800-\udc7f\udd00-\udfff]"


def data(text: str) -> None:
    """Print data: with escapes for control characters, and on a terminal for what is hidden."""
    print_text(text + "\n")


def print_piece(text: str) -> None:
    """Print a part of a text that goes on."""
    sys.stdout.write(reveal_hidden(make_plain(text)) + "\n" * (text.endswith("\n")))
    sys.stdout.flush()


def _escape_character(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))


def print_text(text: str) -> None:
    """Print a file's text, byte by byte where no terminal shows it.

    What moves the cursor, turns the text, or is a letter that nobody sees is escaped even there.
    """
    if sys.stdout.isatty():
        text = reveal_hidden(make_plain(text.rstrip("\n"))) + "\n"
    text = re.sub(_CONTROL, _escape_character, re.sub(_HALF, "?", text))
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


def set_quiet(quiet: bool) -> None:
    """Have `talk` and `print_done` say nothing, or speak."""
    _state["quiet"] = quiet


def can_ask() -> bool:
    """Tell whether a person can be asked: both ends of the question are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str) -> None:
    """Print a question to stderr; the answer follows on its line."""
    click.echo(reveal_hidden(style(flatten_text(question), "cyan", err=True)), nl=False, err=True)


def talk(text: str) -> None:
    """Print one line for the person at the terminal, to stderr."""
    if not _state["quiet"]:
        echo(_fold(flatten_text(text)), err=True)


def print_done(text: str) -> None:
    """Print one line that something was done, to stderr."""
    if not _state["quiet"]:
        echo(f"{style('✓', 'green', err=True)} {_fold(flatten_text(text), 2)}", err=True)


def error(message: str, hint: str = "") -> None:
    """Print an error and its hint to stderr. Nothing else prints errors."""
    echo(f"{style('error:', 'red', err=True)} {_fold(flatten_text(message), 7)}", err=True)
    if hint:
        echo(f"{style('hint:', 'cyan', err=True)} {_fold(flatten_text(hint), 6)}", err=True)


def _fold(text: str, deep: int = 0) -> str:
    """Wrap a line for a terminal, after its first `deep` cells; the lines below begin there."""
    if not sys.stderr.isatty():
        return text
    lines = fold_deep(reveal_hidden(text), columns() - deep, 0 if deep else 2)
    return f"\n{' ' * deep}".join(lines)


def refuse() -> None:
    """Make the command end with exit code 1, once it has run to its end."""
    _state["code"] = 1


def exit_code() -> int:
    """Return the exit code that `refuse` set, and reset it."""
    code, _state["code"] = _state["code"], 0
    return code


def is_coloured(stream: TextIO) -> bool:
    """Tell whether a stream shows colours: a terminal does, unless `NO_COLOR` is set."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not plain and stream.isatty()


def style(text: str, colour: str, *, bold: bool = False, err: bool = False) -> str:
    """Colour a text where that stream shows colours."""
    if not is_coloured(sys.stderr if err else sys.stdout):
        return text
    return click.style(text, fg=colour or None, bold=bold)


def echo(text: str, *, err: bool = False) -> None:
    """Print a text with our own colours; the caller made its parts plain.

    Talk that cannot be printed changes nothing: the exit code says how a command went.
    """
    talks = err and not _state["paged"]
    try:
        click.echo(reveal_hidden(text), err=talks, color=True)
    except OSError:
        if not talks:
            raise


def columns() -> int:
    """Return the width of the terminal, 100 where there is none."""
    import shutil  # 2 ms, for what is laid out

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


class PagerStream(io.TextIOWrapper):
    """Standard output that a pager shows on the terminal."""

    def isatty(self) -> bool:
        """Return True: what is written here is for a person."""
        return True


@contextmanager
def open_pager() -> Iterator[None]:
    """Send stdout through a pager while the body runs.

    There is none where stdout or stdin is no terminal, on a dumb one, and where the pager is `cat`,
    empty or missing.
    """
    command = _find_pager() if sys.stdout.isatty() and sys.stdin.isatty() else []
    if not command:
        yield
        return
    import subprocess  # 5 ms, for a terminal

    env = {"LESS": _LESS, "LESSCHARSET": "utf-8", **os.environ}
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=env) as process:  # noqa: S603 - the user's
        before = sys.stdout
        before.flush()
        sys.stdout = PagerStream(cast("BinaryIO", process.stdin), "utf-8", "replace")
        _state["paged"] = True
        try:
            yield
        finally:
            _state["paged"] = False
            with suppress(BrokenPipeError):  # the user has seen enough
                sys.stdout.close()
            sys.stdout = before
            _wait(process)


def _find_pager() -> list[str]:
    """Return the words that start the pager, [] for none."""
    import shlex  # for a terminal

    words = shlex.split(os.environ.get("PAGER", "less"))
    is_none = not words or words[0] == "cat" or os.environ.get("TERM") == "dumb"
    program = "" if is_none else account.find_program(words[0])
    return [program, *words[1:]] if program else []


def _wait(process: Popen[bytes]) -> None:
    """Wait for the pager; an interrupt is for it."""
    import signal  # of a command that has a pager

    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.wait()
    finally:
        signal.signal(signal.SIGINT, handler)


paged = open_pager()  # as a decorator: a command's output goes through it
