"""The moving pictures of the documentation: what they say, and that they stand alone.

That they are what the program shows today is for `.ci/run` (`tests/docs/recordings.py`).
"""

import re
import shlex
from pathlib import Path

import pytest

from tests.docs import terminal_picture
from tests.docs.terminal_picture import Row, Run, Session, Typed, draw, read_rows

DOCS = Path(__file__).parents[2] / "docs"
SCRIPTS = sorted(path.stem for path in (DOCS / "demo").glob("*.sh") if path.stem != "stage")
SIGNS = {"run": "$ ", "ask": "> ", "say": "# "}
LARGEST = 60_000  # bytes


def list_lines(name: str) -> list[str]:
    """List what a script types and says, as a screen shows it."""
    lines = (DOCS / f"demo/{name}.sh").read_text(encoding="utf-8").splitlines()
    words = [shlex.split(line) for line in lines if line.split(" ")[0] in SIGNS]
    return [SIGNS[word] + text for word, text, *_ in words]


def test_there_is_what_the_readme_shows() -> None:
    assert SCRIPTS == ["recall", "session"]
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"docs/demo/[\w-]+\.svg", readme)
    assert shown == ["docs/demo/session-dark.svg", "docs/demo/session-light.svg"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_picture_holds_what_its_script_types(name: str, theme: str) -> None:
    path = DOCS / f"demo/{name}-{theme}.svg"
    rows = read_rows(path.read_text(encoding="utf-8"))
    typed = list_lines(name)
    assert typed
    assert [row for row in rows if row in typed] == typed, "python -m tests.docs.recordings"
    assert path.stat().st_size < LARGEST


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.svg")), ids=lambda path: path.name)
def test_a_picture_names_no_address_and_no_place(path: Path) -> None:
    svg = path.read_text(encoding="utf-8").replace(' xmlns="http://www.w3.org/2000/svg"', "", 1)
    assert not re.findall(r"https?:|//|@import|url\(|href|<script|<image|/tmp|/home", svg)


def test_the_same_session_is_the_same_picture() -> None:
    rows = [Row(0, [Run(0, "$", "green", bold=False), Run(2, "a < b", "", bold=True)]), Row(2, [])]
    session = Session(rows, [Typed(0, 2, 5, 0, 0.5, 1, 2), Typed(1, 0, 0, 2, 0, 0, 0)], 4)
    svg = draw(session, "dark", "a & b")
    assert svg == draw(session, "dark", "a & b")
    assert read_rows(svg) == ["$ a < b", ""]
    assert "<title>a &amp; b</title>" in svg


def test_a_long_session_scrolls_to_its_end() -> None:
    rows = [Row(at, [Run(0, f"row {at}", "", bold=False)]) for at in range(30)]
    svg = draw(Session(rows, [], 60), "light", "")
    above = (30 - terminal_picture.ROWS) * 19
    assert f"#screen{{animation-name:scroll;transform:translateY(-{above}px)}}" in svg
