"""Parsing a question: words, quoted phrases, identifiers and paths, CJK, and a period."""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from memfs.search import identifiers, query_dates
from memfs.search.query_dates import Period

_MOST = 20_000  # characters that are parsed
_MOST_PARTS = 24
_MOST_PHRASES = 8
_QUOTED = re.compile(r'"([^"\n]{3,300})"|`([^`\n]{3,300})`|“([^”\n]{3,300})”')


class Question(NamedTuple):
    """A parsed question. `text` is the text to search for.

    `parts` are its word parts (see `identifiers`), `names` the identifiers as written.
    """

    text: str
    phrases: tuple[str, ...]
    names: tuple[str, ...]
    parts: tuple[str, ...]
    period: Period | None


def read(text: str, now: datetime | None) -> Question:
    """Parse a question; `now` is the local time for "last week" (None: that of the clock)."""
    head = text[:_MOST]
    period = query_dates.read(head, now)
    phrases = ["".join(groups) for groups in _QUOTED.findall(head)]
    parts = dict.fromkeys(identifiers.extract_parts(head))
    return Question(
        _remove_period(text, period),
        tuple(phrases)[:_MOST_PHRASES],
        tuple(identifiers.names(head)),
        tuple(parts)[:_MOST_PARTS],
        period,
    )


def _remove_period(text: str, period: Period | None) -> str:
    """Return a question without its period (see `query_dates`), unless nothing else is left."""
    rest = period.rest + text[_MOST:] if period else text
    return rest if any(map(str.isalnum, rest)) else text
