"""Asks about proposals one by one, a key each, in the manner of `git add -p`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import click

from memfs.cli import console
from memfs.cli.editor import open_editor
from memfs.core.errors import MemfsError

_KEYS = {
    "y": "take it",
    "n": "drop it: it is not shown again",
    "e": "edit its text, and take that",
    "s": "leave it for later",
    "q": "leave this and all that follow for later",
    "?": "say what the keys do",
}


@dataclass(frozen=True)
class ReviewItem:
    """A proposal to decide on. `accept` takes its text, which `e` changes; "": there is no `e`."""

    question: str
    text: str
    show: Callable[[], object]
    accept: Callable[[str], object]
    reject: Callable[[], object]


def ask_about(items: Sequence[ReviewItem]) -> None:
    """Show each item and do what the user answers; stop at `q`."""
    for number, item in enumerate(items, 1):
        item.show()
        key = _ask(f"({number}/{len(items)}) {item.question}", editable=bool(item.text))
        if key == "q":
            return
        try:
            _decide(item, key)
        except MemfsError as error:  # the others can be decided on all the same
            console.error(error.message, error.hint)


def _decide(item: ReviewItem, key: str) -> None:
    if key == "y":
        item.accept(item.text)
    elif key == "n":
        item.reject()
    elif key == "e":
        with open_editor(f"{item.text}\n", "proposal") as text:
            if text.strip():
                item.accept(text.strip())
            else:
                console.talk("left for later: the text was empty")


def _ask(question: str, *, editable: bool) -> str:
    """Return the key that was pressed, once it is one of ours."""
    keys = [key for key in _KEYS if editable or key != "e"]
    while True:
        console.ask(f"{question} [{','.join(keys)}]? ")
        key = click.getchar().lower()[:1]  # what was typed ahead is not for this question
        console.talk(key if key.isprintable() else "")
        if key in keys and key != "?":
            return key
        if key in ("\x03", "\x04"):  # Ctrl-C and Ctrl-D, where the terminal hands them over
            return "q"
        for each in keys:
            console.talk(f"  {each}  {_KEYS[each]}")
