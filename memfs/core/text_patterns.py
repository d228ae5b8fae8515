"""Patterns of plain text: `*` matches anything, and case does not count."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable


class TextPatterns:
    """Patterns to find anywhere in texts, in time that grows with a text's length alone."""

    def __init__(self, patterns: Iterable[str]) -> None:
        split = ([part for part in _fold(each).split("*") if part] for each in patterns)
        self._patterns = [parts for parts in split if parts]

    def match(self, text: str) -> bool:
        """Tell whether a text has one of the patterns."""
        if not self._patterns:
            return False
        folded = _fold(text)
        return any(_has_in_order(folded, parts) for parts in self._patterns)


def matches_everything(pattern: str) -> bool:
    """Tell whether a pattern is empty, or nothing but `*` and spaces."""
    return not pattern.replace("*", "").strip()


def _has_in_order(text: str, parts: list[str]) -> bool:
    at = 0
    for part in parts:
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _fold(text: str) -> str:
    """Return a text in which case, and ways to write the same character, make no difference."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
