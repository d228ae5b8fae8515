"""What a module for a form of files returns, and how long it may take."""

from __future__ import annotations

import time
from typing import NamedTuple

from memfs.core.headings import Section
from memfs.search.catalog import LeftOutError

_MOST = 10.0  # seconds of a processor: libraries take minutes for files that are made for it
SLOW = f"it takes more than {_MOST:g} seconds to read"


class FileContent(NamedTuple):
    """The sections of a file, and for each line of them the number to show (None: the same)."""

    sections: list[Section]
    numbers: list[int] | None = None


class TimeLimit:
    """The time that a file may take, from now on."""

    def __init__(self) -> None:
        self._end = time.thread_time() + _MOST

    def check(self) -> None:
        """Raise `LeftOutError` if it is over."""
        if time.thread_time() > self._end:
            raise LeftOutError(SLOW)
