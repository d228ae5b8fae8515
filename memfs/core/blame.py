"""Line-by-line blame: the source of each line, from the past states of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from memfs.core import changes

Source = TypeVar("Source")


def attribute(states: Sequence[tuple[str, Source]]) -> list[tuple[str, Source]]:
    """Return the lines of the last text, each with the source of the state that added it.

    `states` are (text, source), oldest first. A line that is removed and added again (an undo)
    keeps the source that it had.
    """
    lines: list[str] = []
    sources: list[Source] = []
    gone: dict[str, Source] = {}
    for text, source in states:
        new = text.split("\n") if text else []
        kept: list[Source] = []
        end = 0
        for a, b, c, d in changes.find_replacements(lines, new):
            kept += sources[end:a]
            gone.update(zip(lines[a:b], sources[a:b], strict=True))
            kept += [gone.get(line, source) for line in new[c:d]]
            end = b
        sources = kept + sources[end:]
        lines = new
    return list(zip(lines, sources, strict=True))
