"""HTML: its text, cut at its headings. Scripts, styles and navigation are left out."""

from __future__ import annotations

from collections.abc import Sequence
from html.parser import HTMLParser

from memfs.core.headings import Section
from memfs.ingest.cutting.content import FileContent, TimeLimit

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SKIPPED = frozenset("head script style template noscript svg nav".split())
_BLOCKS = frozenset(
    """
    address article aside blockquote dd div dl dt figcaption figure footer form header hr li main
    ol p pre section table tr ul
    """.split()
)


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


def read(text: str, _suffix: str) -> FileContent:
    """Return the sections of a page."""
    parser = _TextParser()
    parser.feed(text)
    parser.close()
    parser.finish()
    return FileContent(parser.sections, parser.numbers)
