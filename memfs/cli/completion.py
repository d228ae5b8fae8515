"""Arguments that the shell completes from what is stored here."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

from memfs.cli import options
from memfs.store import blocks
from memfs.store.blocks import Place


class CompletedType(click.ParamType):  # type: ignore[type-arg]
    """A word that the shell completes.

    `list_words` returns the words to choose from, given the place and what was typed.
    """

    def __init__(self, name: str, list_words: Callable[[Place, str], Iterable[str]]) -> None:
        self.name = name
        self._list_words = list_words

    def shell_complete(
        self, _context: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the known words that begin so, none where they cannot be read."""
        try:
            known = list(self._list_words(options.place(), incomplete))
        except Exception:  # noqa: BLE001 - a shell that completes must not be disturbed
            return []
        return [CompletionItem(word) for word in known if word.startswith(incomplete)]


def _list_labels(place: Place, incomplete: str) -> Iterable[str]:
    """Return the labels of blocks, and behind an `@` the versions of one."""
    label, at, _ = incomplete.partition("@")
    if at:
        from memfs.ops import history  # with what edits

        return [f"{label}@{entry.version}" for entry in history.log(place, label)]
    return sorted({label for _, label, _ in blocks.paths(place)})


LABEL = CompletedType("label", _list_labels)
