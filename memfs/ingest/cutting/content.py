"""What a module for a form of files returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memfs.core.headings import Section


class FileContent(NamedTuple):
    """The sections of a file, and for each line of them the number to show (None: the same)."""

    sections: list[Section]
    numbers: list[int] | None = None
