"""Prints the messages of a recorded session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memfs.cli import console, layout
from memfs.core.escaping import flatten_text
from memfs.core.formats import format_time

if TYPE_CHECKING:
    from memfs.ops.sessions import SessionMessage

_LONGEST = 2000  # characters of a message
_TOOL = 200  # characters of what a tool was given or said
_COLOURS = {"user": "green", "assistant": "cyan"}


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
        console.echo(arrow + console.style(flatten_text(who), _COLOURS.get(message.role, "")))
        most = _TOOL if message.role == "tool" else _LONGEST
        text = message.text.strip()
        if not full and len(text) > most:
            text = f"{text[:most].rstrip()} … ({len(text):,} characters; --full shows all)"
        console.echo(layout.wrap(text, 4))
