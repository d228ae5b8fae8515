"""Forms of texts: Markdown, reStructuredText, HTML, notebooks, PDF, and plain text.

Each has a function that returns the sections of a file.
"""

import io
import json
import logging
import re
import time
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import NamedTuple

from memfs.core import headings
from memfs.core.headings import Section
from memfs.core.privacy import public
from memfs.search.catalog import LeftOutError

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SKIPPED = frozenset("head script style template noscript svg nav".split())
_BLOCKS = frozenset(
    """
    address article aside blockquote dd div dl dt figcaption figure footer form header hr li main
    ol p pre section table tr ul
    """.split()
)

_LONGEST = 2_000_000  # characters of all pages
_UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*\Z")
_OVERLINED = 3  # lines of a title with a line above it, too
_MOST = 10.0  # seconds of a processor: libraries take minutes for files that are made for it
SLOW = f"reading takes more than {_MOST:g} seconds"


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


def read_markdown(text: str, _suffix: str) -> FileContent:
    """Return the sections of a Markdown text."""
    return FileContent(list(headings.split_markdown(text)))


def read_text(text: str, _suffix: str) -> FileContent:
    """Return a text as one section."""
    return FileContent([Section(0, "", "", text)])


def read_restructured(text: str, _suffix: str) -> FileContent:
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


def read_notebook(text: str, _suffix: str) -> FileContent:
    """Return the sections of a notebook; their lines are numbered by cells."""
    lines: list[str] = []
    numbers: list[int] = []
    for number, cell in enumerate(json.loads(text)["cells"], 1):
        source = cell["source"]
        body = public("".join(source) if isinstance(source, list) else str(source)).strip("\n")
        if not body:
            continue
        if cell["cell_type"] == "code":
            body = f"```\n{body}\n```"
        more = [*body.split("\n"), ""]
        lines += more
        numbers += [number] * len(more)
    return FileContent(list(headings.split_markdown("\n".join(lines))), numbers)


def read_pdf(data: bytes, _suffix: str) -> FileContent:
    """Return the pages of a PDF; their lines are numbered by pages."""
    import pypdf  # an extra

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it makes of malformed files
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


class _TextParser(HTMLParser):
    """Collects sections; `numbers` has the line of the file for each line of theirs."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.sections = [Section(0, "", "", "")]
        self.numbers: list[int] = []
        self._pieces: list[str] = []
        self._title: list[str] | None = None
        self._skipped = 0
        self._limit = TimeLimit()

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        del attrs
        self._limit.check()
        if tag in _SKIPPED:
            self._skipped += 1
        elif tag in _HEADINGS and self._title is None:
            self.finish()
            self.sections.append(Section(_HEADINGS[tag], "", "", "", len(self.numbers) + 1))
            self._title = []
        elif tag in _BLOCKS:
            self._begin_paragraph()
        elif tag == "br":
            self._add("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SKIPPED:
            self._skipped = max(0, self._skipped - 1)
        elif tag in _HEADINGS and self._title is not None:
            title = " ".join("".join(self._title).split())
            self.sections[-1] = self.sections[-1]._replace(title=title, line=f"{title}\n")
            self.numbers.append(self.getpos()[0])
            self._title = None
        elif tag in _BLOCKS:
            self._begin_paragraph()

    def handle_comment(self, data: str) -> None:
        del data
        self._limit.check()

    def handle_data(self, data: str) -> None:
        self._limit.check()
        if self._skipped:
            return
        if self._title is not None:
            self._title.append(data)
        elif data.strip() or (self._pieces and not self._pieces[-1].endswith("\n")):
            self._add(data)

    def finish(self) -> None:
        """Give the last section the text that was collected."""
        if self._pieces and not self._pieces[-1].endswith("\n"):
            self._add("\n")
        self.sections[-1] = self.sections[-1]._replace(body="".join(self._pieces))
        self._pieces = []

    def _begin_paragraph(self) -> None:
        """Put an empty line between two blocks, also where both stand on one line of the file."""
        if self._pieces and not self._skipped and self._title is None:
            end = "".join(self._pieces[-2:])
            if not end.endswith("\n\n"):
                self._add("\n" if end.endswith("\n") else "\n\n")

    def _add(self, text: str) -> None:
        self._pieces.append(text)
        line = self.getpos()[0]
        count = text.count("\n")
        grows = bool(text.strip())  # else it is a break of ours
        self.numbers += range(line, line + count) if grows else [line] * count


def read_html(text: str, _suffix: str) -> FileContent:
    """Return the sections of a page."""
    parser = _TextParser()
    parser.feed(text)
    parser.close()
    parser.finish()
    return FileContent(parser.sections, parser.numbers)
