"""PDF files: each page is a section."""

from __future__ import annotations

import io
import logging

import pypdf

from memfs.core.headings import Section
from memfs.core.privacy import public
from memfs.ingest.cutting.content import FileContent, TimeLimit

_LONGEST = 2_000_000  # characters of all pages

logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it makes of malformed files


def read(data: bytes, _suffix: str) -> FileContent:
    """Return the pages of a PDF; their lines are numbered by pages."""
    sections: list[Section] = []
    numbers: list[int] = []
    room, limit = _LONGEST, TimeLimit()
    for number, page in enumerate(pypdf.PdfReader(io.BytesIO(data)).pages, 1):
        limit.check()
        body = public(page.extract_text()[:room]).strip("\n") + "\n"
        room -= len(body)
        sections.append(Section(1, f"page {number}", "", body, len(numbers) + 1))
        numbers += [number] * body.count("\n")
        if room <= 0:
            break
    return FileContent(sections, numbers)
