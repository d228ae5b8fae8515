"""The lines of a file of a data source around a hit."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from memfs import files
from memfs.core.records import Hit
from memfs.core.source_location import has_lines
from memfs.search.catalog import LeftOutError
from memfs.store import data_sources
from memfs.store.blocks import Place


class FileLine(NamedTuple):
    """A line of a file; `found`: it is in the hit."""

    number: int
    text: str
    found: bool


def read_lines(place: Place, hit: Hit, more: int) -> list[FileLine]:
    """Return the lines of a hit with `more` before and after it, as they are now.

    None where the file is gone, or has no lines (PDF). Private parts are empty lines.
    """
    cutting = import_module("memfs.ingest.cutting")  # only if a file is opened
    path, first, last = _find_file(place, hit), hit.metadata.get("line"), hit.metadata.get("end")
    if not path or not has_lines(path) or not isinstance(first, int) or not isinstance(last, int):
        return []
    try:
        data = (files.read(path) or "").encode("utf-8", "surrogateescape")
        text = cutting.decode(data).split("\n")
    except (OSError, LeftOutError):
        return []
    start = max(1, first - more)
    return [
        FileLine(number, line, first <= number <= last)
        for number, line in enumerate(text[start - 1 : last + more], start)
    ]


def _find_file(place: Place, hit: Hit) -> str:
    """Return the path of a hit's file in the sources of a place, "" if none has it."""
    shown = str(hit.metadata.get("file", ""))
    for source in data_sources.list_sources(place):
        if source.name == hit.label and shown.startswith(source.shown):
            return f"{source.top}/{shown[len(source.shown) :]}"
    return ""
