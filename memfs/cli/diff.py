"""Diffs on the screen."""

from __future__ import annotations

from memfs.cli import console
from memfs.core.escaping import flatten_text

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def show(text: str) -> None:
    """Print a unified diff, in colours where stdout shows them."""
    for line in text.split("\n")[:-1]:
        colour = _COLOURS.get(line[:1], "")
        shown = flatten_text(line)
        console.echo(console.style(shown, colour) if colour else shown)
