"""Texts that read alike (composed letters, curly quotes, odd spaces), and patterns with `*`."""

import re
import unicodedata
from collections.abc import Iterable

_SAME = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        **dict.fromkeys("\u00a0\u1680\u202f\u205f\u3000\t", " "),
        **{chr(code): " " for code in range(0x2000, 0x200B)},
        **dict.fromkeys("\u200b\u2060\ufeff\u00ad\r"),
    }
)
_GAP = re.compile(" +")


def fold(text: str) -> str:
    """Return a text with one form for what looks alike; its letters keep case and accents."""
    return _GAP.sub(" ", unicodedata.normalize("NFD", text).translate(_SAME))


def find_once(text: str, wanted: str) -> tuple[int, int] | None:
    """Return where a text has the only place that reads like another; None for none, or more."""
    folded, places = _fold_with_places(text)
    wanted = fold(wanted)
    at = folded.find(wanted) if wanted.strip() else -1
    if at < 0 or folded.find(wanted, at + 1) >= 0:
        return None
    end = at + len(wanted)
    if any(unicodedata.combining(each) for each in (folded[at], folded[end : end + 1]) if each):
        return None
    return places[at], places[end]


def _fold_with_places(text: str) -> tuple[str, list[int]]:
    """Return the folded text, and for each of its characters where it came from, then the end."""
    characters: list[str] = []
    places: list[int] = []
    for number, character in enumerate(text):
        for each in fold(character):
            if each == " " and characters[-1:] == [" "]:
                continue
            characters.append(each)
            places.append(number)
    return "".join(characters), [*places, len(text)]


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
