"""Lines that a later one takes back in words: `Prefers X`, later `Actually prefers Y now`.

Only a line that says that something changed counts. Both values stay in the line that is left, so
that nothing is lost where the reading was wrong.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_VALUE = r"(?P<value>[\w][\w.+#&/ -]{0,60}?)"
_END = r"(?: (?:now|instead|these days))?[.!]?"
_START = r"(?P<mark>[ \t]{0,3}(?:[-*+][ \t]+)?)"


class _Change(NamedTuple):
    """What a line says, and what a later one says that takes it back."""

    said: re.Pattern[str]
    later: re.Pattern[str]


def _compile(said: str, later: str) -> _Change:
    return _Change(
        re.compile(f"{_START}(?P<head>{said}) {_VALUE}[.!]?", re.IGNORECASE),
        re.compile(f"{_START}(?:{later}) {_VALUE}{_END}", re.IGNORECASE),
    )


_CHANGES = (
    _compile(
        r"(?:(?:I|he|she|they|the user|user) )?prefers?",
        r"(?:actually,? )(?:(?:I|he|she|they|the user|user) )?(?:now )?prefers?"
        r"|(?:(?:I|he|she|they|the user|user) )?now prefers?",
    ),
    _compile(r"works (?:at|for)", r"changed jobs to|now works (?:at|for)|(?:has )?joined"),
    _compile(r"lives in", r"(?:has )?moved to|now lives in"),
)


def find_superseded(lines: list[str]) -> dict[int, str]:
    """Map places of lines to what is to stand there: the one that is left, and "" for the other.

    A later line that says that something changed takes back the last one that it can be about.
    """
    texts = list(lines)
    changed: dict[int, str] = {}
    for change in _CHANGES:
        known: tuple[int, re.Match[str]] | None = None
        for place, text in enumerate(texts):
            later = change.later.fullmatch(text)
            if later and known:
                first, said = known
                if later["mark"] != said["mark"]:
                    continue
                before = said["value"].strip()
                texts[first] = f"{said['mark']}{said['head']} {later['value']} (before: {before})"
                texts[place] = ""
                changed |= {first: texts[first], place: ""}
                known = None
            elif found := change.said.fullmatch(text):
                known = place, found
    return changed
