"""The messages that the page of troubleshooting quotes are printed by the program."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
PAGE = TOP / "docs/troubleshooting.md"
GAP = "…"  # stands for what a message fills in
ROW = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)


def list_messages() -> list[str]:
    """List what the page quotes: the first cell of each row, if it is a message."""
    return ROW.findall(PAGE.read_text(encoding="utf-8"))


def read_texts(node: ast.AST) -> Iterator[str]:
    """Yield the texts of a module, with a gap for what is filled in."""
    for each in ast.walk(node):
        if isinstance(each, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else GAP for part in each.values
            )
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield re.sub(r"\{\w+\}", GAP, each.value)


@cache
def list_printed() -> frozenset[str]:
    """List every text in the source of memfs."""
    sources = (TOP / "memfs").rglob("*.py")
    return frozenset(
        text for path in sources for text in read_texts(ast.parse(path.read_text(encoding="utf-8")))
    )


def find_missing(message: str) -> list[str]:
    """List the fixed words of a message that no text of the program has."""
    pieces = [piece.strip(" ;:,.()'") for piece in message.split(GAP)]
    return [piece for piece in pieces if piece and not is_printed(piece)]


def is_printed(piece: str) -> bool:
    """Tell whether words are in a text of the program, or at the end and the start of two."""
    if any(piece in text for text in list_printed()):
        return True
    ends = [found.start() for found in re.finditer(" ", piece)]
    parts = [part.strip() for text in list_printed() for part in text.split(GAP)]
    return any(
        any(part.endswith(piece[:at]) for part in parts)
        and any(part.startswith(piece[at:].strip()) for part in parts)
        for at in ends
    )


def test_the_page_quotes_messages() -> None:
    assert len(list_messages()) > 40


@pytest.mark.parametrize("message", list_messages())
def test_each_message_is_printed(message: str) -> None:
    assert find_missing(message) == []


def test_what_nobody_prints_is_found() -> None:
    assert find_missing("… is not wired, alas: …") == ["is not wired, alas"]
