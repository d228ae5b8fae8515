"""reStructuredText: cut at its titles, which are underlined."""

from __future__ import annotations

import re

from memfs.core.headings import Section
from memfs.ingest.cutting.content import FileContent

_UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*\Z")
_OVERLINED = 3  # lines of a title with a line above it, too


def read(text: str, _suffix: str) -> FileContent:
    """Return the sections of a text: each kind of underline is a level, in their order."""
    lines = [f"{line}\n" for line in text.split("\n")]
    levels: dict[tuple[str, int], int] = {}
    found = [Section(0, "", "", "")]
    at = start = 0
    while at < len(lines):
        size, mark = _match_title(lines, at)
        if not size:
            at += 1
            continue
        found[-1] = found[-1]._replace(body="".join(lines[start:at]))
        level = levels.setdefault((mark, size), len(levels) + 1)
        title = lines[at + size - 2].strip()
        start = at + size
        found.append(Section(level, title, "".join(lines[at:start]), "", at + 1))
        at = start
    found[-1] = found[-1]._replace(body="".join(lines[start:]))
    return FileContent(found)


def _match_title(lines: list[str], at: int) -> tuple[int, str]:
    """Return (number of lines, character of the underline) of the title at a line; 0 lines: none.

    A title stands behind an empty line, and its underline is as long as it is.
    """
    if at and lines[at - 1].strip():
        return 0, ""
    size = _OVERLINED if _UNDERLINE.match(lines[at].rstrip("\n")) else _OVERLINED - 1
    if at + size > len(lines):
        return 0, ""
    *over, title, under = lines[at : at + size]
    mark = _UNDERLINE.match(under.rstrip("\n"))
    plain = title.strip()
    if not mark or not plain or (not over and title[0].isspace()) or _UNDERLINE.match(plain):
        return 0, ""
    if len(under.rstrip()) < len(plain) or (over and over[0].rstrip() != under.rstrip()):
        return 0, ""
    return size, mark[1]
