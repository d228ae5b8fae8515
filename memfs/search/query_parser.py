"""What a question asks for: words, phrases in quotes, identifiers and paths, CJK, and a time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memfs.search import dates, identifiers

if TYPE_CHECKING:
    from datetime import datetime

    from memfs.search.dates import Period

_MOST = 20_000  # characters that are looked at
_MOST_PARTS = 24
_MOST_PHRASES = 8
_QUOTED = re.compile(r'"([^"\n]{3,300})"|`([^`\n]{3,300})`|“([^”\n]{3,300})”')


class Question(NamedTuple):
    """A question taken apart. `text` is what words and vectors are looked for with.

    `parts` are words inside of words (see `identifiers`), `names` the identifiers as written.
    """

    text: str
    phrases: tuple[str, ...]
    names: tuple[str, ...]
    parts: tuple[str, ...]
    period: Period | None


def read(text: str, now: datetime | None) -> Question:
    """Take a question apart; `now` is the local time that "last week" is seen from.

    None: that of the clock.
    """
    head = text[:_MOST]
    period = dates.read(head, now)
    phrases = ["".join(groups) for groups in _QUOTED.findall(head)]
    parts = dict.fromkeys(identifiers.parts(head))
    return Question(
        _without(text, period),
        tuple(phrases)[:_MOST_PHRASES],
        tuple(identifiers.names(head)),
        tuple(parts)[:_MOST_PARTS],
        period,
    )


def _without(text: str, period: Period | None) -> str:
    """Return a question without what only names a time (see `dates`), if it says more."""
    said = period.rest + text[_MOST:] if period else text
    return said if any(map(str.isalnum, said)) else text
