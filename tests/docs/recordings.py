"""The moving pictures of the documentation, made from the scripts in `docs/demo/`.

    python -m tests.docs.recordings

runs each script with the real program in a terminal, and draws what it shows. With `--check` nothing
is written: it fails where a picture is not what the program says today, and prints what differs. The
scripts tell time in marks, so that the same text makes the same bytes, without waiting.

It needs what the extra `docs` names, for the terminal, and a `memfs` on the PATH.
"""

import difflib
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pyte

from tests.docs.terminal_picture import COLUMNS, THEMES, Row, Run, Session, Typed, draw, read_rows

FOLDER = Path(__file__).parents[2] / "docs/demo"
TITLES = {
    "session": "A terminal. memfs init makes a store, memfs ingest reads earlier sessions, memfs search "
    "finds what was said weeks ago, memfs edit keeps a rule, memfs undo takes an edit back.",
    "recall": "A terminal. A prompt to an assistant weeks later, and what memfs puts next to it; "
    "a prompt about something else brings nothing.",
}
_PATIENCE = 60  # seconds
_MOST = 400  # rows of a session
_MARK = re.compile(r"\x1b]7;(pause|type|typed)=([\d.]+)\x07")


def play(name: str) -> str:
    """Run a script in a terminal, and return what it wrote there."""
    ours, theirs = pty.openpty()
    env = {each: os.environ[each] for each in ("TMPDIR", "LANG") if each in os.environ}
    env["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    # It is given rows for all there is: what is long would be shown page by page.
    env |= {"TERM": "xterm", "COLUMNS": str(COLUMNS), "LINES": str(_MOST), "MEMFS_RECORDING": "1"}
    script = ("bash", str(FOLDER / f"{name}.sh"))
    with subprocess.Popen(script, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours, process), b""))
    os.close(ours)
    text = shown.decode()
    if process.returncode:
        sys.exit(f"docs/demo/{name}.sh ended with {process.returncode}:\n{_MARK.sub('', text)}")
    return text


def _read(handle: int, process: subprocess.Popen[bytes]) -> bytes:
    if not select.select([handle], [], [], _PATIENCE)[0]:
        process.kill()  # something in it waits: it shows nothing more
        return b""
    try:
        return os.read(handle, 1 << 16)
    except OSError:  # nobody has it open any more
        return b""


def record(shown: str) -> Session:
    """Return the session that a script showed, with its marks as times."""
    screen = pyte.Screen(COLUMNS, _MOST)
    stream = pyte.Stream(screen)
    now = letter = 0.0
    times: dict[int, float] = {}
    typed: list[Typed] = []
    standing = (0, 0, 0.0, 0.0)  # of what is typed: row, column, begin, stop
    pieces = _MARK.split(shown)
    stream.feed(pieces[0])
    for word, value, text in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        _note_times(screen, times, now)
        if word == "type":
            letter = float(value)
            end = round(now + letter * len(text), 3)
            standing = (screen.cursor.y, screen.cursor.x, now, end)
            now = end
        elif word == "pause":
            now = round(now + float(value), 3)
        if word == "pause" and text.startswith(("\r\n", "\n")) and standing[3]:
            row, column, begin, stop = standing
            letters = screen.cursor.x - column
            typed.append(Typed(row, column, letters, times[row], begin, stop, now))
            standing = (0, 0, 0.0, 0.0)
        stream.feed(text)
    row, column = screen.cursor.y, screen.cursor.x
    typed.append(Typed(row, column, 0, times[row], 0, 0, 0))
    rows = [Row(times[number], list(_list_runs(screen, number))) for number in sorted(times)]
    return Session(rows, typed, now)


def _note_times(screen: pyte.Screen, times: dict[int, float], now: float) -> None:
    """Note the rows that are there now, and were not at the mark before."""
    reached = screen.cursor.y + bool(screen.cursor.x)
    for number in range(len(times), reached):
        times[number] = now


def _list_runs(screen: pyte.Screen, number: int) -> Iterator[Run]:
    line = screen.buffer[number]
    cells = [(column, line[column]) for column in range(COLUMNS)]
    while cells and cells[-1][1].data == " ":
        cells.pop()
    for (colour, bold), found in groupby(cells, lambda cell: (cell[1].fg, cell[1].bold)):
        run = list(found)
        text = "".join(cell.data for _, cell in run)
        if text.strip():
            yield Run(run[0][0], text, "" if colour == "default" else colour, bold)


def make_pictures() -> dict[Path, str]:
    """Return the pictures by their paths."""
    made: dict[Path, str] = {}
    for name, title in TITLES.items():
        session = record(play(name))
        made |= {FOLDER / f"{name}-{theme}.svg": draw(session, theme, title) for theme in THEMES}
    return made


def check() -> str:
    """Return what is not as it is told, "" for nothing."""
    found = []
    for path, svg in make_pictures().items():
        told = path.read_text(encoding="utf-8") if path.exists() else ""
        if told != svg:
            rows = read_rows(told) if told else []
            names = (f"{path.name}, as it is", f"{path.name}, as the program shows it")
            lines = difflib.unified_diff(rows, read_rows(svg), *names, lineterm="", n=1)
            found += list(lines) or [f"{path.name}: the same text, drawn or timed in another way"]
    return "\n".join(found)


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        wrong = check()
        sys.exit(f"{wrong}\n\npython -m tests.docs.recordings" if wrong else 0)
    for path, svg in make_pictures().items():
        path.write_text(svg, encoding="utf-8")
