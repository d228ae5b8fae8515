"""A terminal session as one SVG that moves: its text, what is typed, how it scrolls.

Each row is in it once, as text. Style sheets alone move it, and where they do not (a reader asks for
less motion, a program draws a still) it shows the end. It names no address and no font of its own.
"""

from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

COLUMNS, ROWS = 80, 22
_CELL, _LINE, _FONT = 8.4, 19, 14  # pixels
_LEFT, _TOP, _BOTTOM = 16, 40, 14
_WIDTH = round(COLUMNS * _CELL + 2 * _LEFT)
_HEIGHT = _TOP + ROWS * _LINE + _BOTTOM
_SVG = "{http://www.w3.org/2000/svg}"

# As in the page and in editors: on white or nearly black, each readable (4.5:1 or more).
THEMES = {
    "light": {
        "paper": "#ffffff", "edge": "#d0d7de", "bar": "#f3f5f7", "dot": "#c9d1d9", "text": "#1f2328",
        "red": "#b3261e", "green": "#116329", "brown": "#7a4d00", "blue": "#0550ae",
        "magenta": "#8250df", "cyan": "#0b6a73", "brightblack": "#626a73",
    },
    "dark": {
        "paper": "#0f1419", "edge": "#30363d", "bar": "#1a2027", "dot": "#3b434c", "text": "#e6edf3",
        "red": "#ff8b82", "green": "#6fd388", "brown": "#e3b341", "blue": "#79b8ff",
        "magenta": "#d2a8ff", "cyan": "#5fd0d8", "brightblack": "#929ca7",
    },
}  # fmt: skip


class Run(NamedTuple):
    """Letters of a row that look alike, from a column on."""

    column: int
    text: str
    colour: str  # "" for that of text
    bold: bool


class Row(NamedTuple):
    """A row of the session, and when it is there (in seconds)."""

    at: float
    runs: list[Run]


class Typed(NamedTuple):
    """Letters that somebody types: the cursor stands before them from `at`, and leaves at `end`."""

    row: int
    column: int
    letters: int
    at: float
    begin: float
    stop: float
    end: float  # 0: it stays


class Session(NamedTuple):
    """A recorded session: rows from its first to its last, however many a screen has."""

    rows: list[Row]
    typed: list[Typed]
    seconds: float


def draw(session: Session, theme: str, title: str) -> str:
    """Return the SVG of a session."""
    colours = THEMES[theme]
    style, body = [], []
    for number, row in enumerate(session.rows):
        style.append(_appear(f"r{number}", row.at, session.seconds))
        body.append(f'<g id="r{number}" class="row">{_draw_runs(row.runs, number)}</g>')
    for number, typed in enumerate(session.typed):
        style.append(_type(f"t{number}", typed, session.seconds))
        body.append(_draw_cover(f"t{number}", typed))
    style.append(_scroll(session))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" role="img">\n<title>{escape(title)}</title>\n'
    )
    frame = (
        f'<rect class="paper edge" x=".5" y=".5" width="{_WIDTH - 1}" height="{_HEIGHT - 1}" rx="9"/>\n'
        f'<path class="bar" d="M1 28V9.5A8.5 8.5 0 0 1 9.5 1h{_WIDTH - 19}a8.5 8.5 0 0 1 8.5 8.5V28z"/>\n'
        + "".join(f'<circle class="dot" cx="{x}" cy="15" r="5"/>' for x in (18, 36, 54))
    )
    screen = (
        f'\n<svg x="{_LEFT}" y="{_TOP}" width="{_WIDTH - 2 * _LEFT}" height="{ROWS * _LINE}">\n'
        '<g id="screen">\n' + "\n".join(body) + "\n</g>\n</svg>\n</svg>\n"
    )
    sheet = _list_styles(colours, session.seconds) + "\n".join(style)
    return f"{head}<style>\n{sheet}\n</style>\n{frame}{screen}"


def _list_styles(colours: dict[str, str], seconds: float) -> str:
    fonts = 'ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace'
    named = "".join(
        f".{name}{{fill:{colour}}}\n"
        for name, colour in colours.items() if name not in {"edge", "text"}
    )  # fmt: skip
    return (
        f"text{{font:{_FONT}px {fonts};fill:{colours['text']};white-space:pre}}\n{named}"
        f".b{{font-weight:bold}}\n.edge{{stroke:{colours['edge']}}}\n"
        f".cursor{{fill:{colours['text']};opacity:.7}}\n"
        f".row,.cover,#screen{{animation:{seconds:g}s step-end infinite}}\n"
        "@media (prefers-reduced-motion:reduce){.row,.cover,#screen{animation:none!important}}\n"
    )


def _draw_runs(runs: list[Run], number: int) -> str:
    return "".join(
        f'<text x="{run.column * _CELL:g}" y="{number * _LINE + 14}"'
        f' textLength="{len(run.text) * _CELL:g}"{_class(run)}>{escape(run.text)}</text>'
        for run in runs
    )


def _class(run: Run) -> str:
    names = " ".join(filter(None, (run.colour, "b" if run.bold else "")))
    return f' class="{names}"' if names else ""


def _draw_cover(name: str, typed: Typed) -> str:
    """Return what hides the letters that are not typed yet, with the cursor at its front."""
    x, y = typed.column * _CELL, typed.row * _LINE
    return (
        f'<g id="{name}" class="cover"><rect class="paper" x="{x:g}" y="{y}" width="{_WIDTH}"'
        f' height="{_LINE}"/><rect class="cursor" x="{x:g}" y="{y + 1}" width="{_CELL}"'
        f' height="{_LINE - 2}"/></g>'
    )


def _appear(name: str, at: float, seconds: float) -> str:
    if not at:
        return ""
    frames = f"0%{{visibility:hidden}}{_percent(at, seconds)}{{visibility:visible}}"
    return f"#{name}{{animation-name:{name}}}@keyframes {name}{{{frames}}}"


def _type(name: str, typed: Typed, seconds: float) -> str:
    """Return the moves of a cover: aside, at its place, letter by letter to the right, aside."""
    moved = f"translateX({typed.letters * _CELL:g}px)"
    away = f"translateX({_WIDTH}px)"
    aside = away if typed.end else "none"
    frames = f"0%{{transform:{away}}}" if typed.at else ""
    frames += f"{_percent(typed.at, seconds)}{{transform:none}}"
    if typed.letters:
        frames += (
            f"{_percent(typed.begin, seconds)}{{transform:none;"
            f"animation-timing-function:steps({typed.letters})}}"
            f"{_percent(typed.stop, seconds)}{{transform:{moved}}}"
        )
    if typed.end:
        frames += f"{_percent(typed.end, seconds)}{{transform:{aside}}}"
    return f"#{name}{{animation-name:{name};transform:{aside}}}@keyframes {name}{{{frames}}}"


def _scroll(session: Session) -> str:
    frames, last = ["0%{transform:none}"], 0
    for number, row in enumerate(session.rows):
        below = max(0, number + 1 - ROWS)
        later = session.rows[number + 1 :]
        if below > last and not any(each.at <= row.at for each in later[:1]):
            last = below
            frames.append(
                f"{_percent(row.at, session.seconds)}{{transform:translateY({-below * _LINE}px)}}"
            )
    return (
        f"#screen{{animation-name:scroll;transform:translateY({-last * _LINE}px)}}"
        f"@keyframes scroll{{{''.join(frames)}}}"
    )


def _percent(at: float, seconds: float) -> str:
    return f"{100 * at / seconds:.3f}".rstrip("0").rstrip(".") + "%"


def read_rows(svg: str) -> list[str]:
    """Return the text of the rows in a picture, as a terminal would show them."""
    return [_read_row(group) for group in _list_groups(svg)]


def _list_groups(svg: str) -> Iterator[ET.Element]:
    for group in ET.fromstring(svg).iter(f"{_SVG}g"):  # noqa: S314 - we made it
        if group.get("class") == "row":
            yield group


def _read_row(group: ET.Element) -> str:
    row = ""
    for each in group.iter(f"{_SVG}text"):
        row = row.ljust(round(float(each.get("x", "0")) / _CELL)) + (each.text or "")
    return row
