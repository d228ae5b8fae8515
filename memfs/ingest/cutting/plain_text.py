"""Plain text: cut between paragraphs."""

from __future__ import annotations

from memfs.core.headings import Section
from memfs.ingest.cutting.content import FileContent


def read(text: str, _suffix: str) -> FileContent:
    """Return a text as one section."""
    return FileContent([Section(0, "", "", text)])
