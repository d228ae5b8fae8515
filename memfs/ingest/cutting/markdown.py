"""Markdown: cut at its headings."""

from __future__ import annotations

from memfs.core import headings
from memfs.ingest.cutting.content import FileContent


def read(text: str, _suffix: str) -> FileContent:
    """Return the sections of a Markdown text."""
    return FileContent(list(headings.split_markdown(text)))
