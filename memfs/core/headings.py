"""A Markdown text in parts that can be read alone: cut at its headings, long parts at paragraphs.

Every line but headings themselves is in exactly one part; these are in its path.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import NamedTuple

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_CLOSING = re.compile(r"[ \t]+#+[ \t]*\Z")
_UNDERLINE = re.compile(r" {0,3}(?:(=+)|-+)[ \t]*")
_SENTENCE_END = re.compile(r"[.!?…][\"'”)\]]{0,3}\s+|[。！？]")  # noqa: RUF001 - of Chinese
_WORD_END = re.compile(r"\s+")
_LEAD = re.compile(r" {0,3}(?:#{1,6}[ \t].*|=+|-+|([*_])\1+|\*\*.*\*\*|[^\s*+-].*:\**)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class Section(NamedTuple):
    """A heading (level 0: none) and what follows up to the next; `number` is its line (from 1)."""

    level: int
    title: str
    line: str
    body: str
    number: int = 1


class NumberedPart(NamedTuple):
    """A part of a text, with its first and last line (from 1).

    `path` are the headings that it stands below, the outermost first. `goes_on`: it is of the same
    section as the part before.
    """

    path: tuple[str, ...]
    text: str
    first: int
    last: int
    goes_on: bool = False


def split_text(text: str, most: int) -> list[NumberedPart]:
    """Cut a text into parts of at most `most` characters.

    A heading's part holds what is below it as far as that fits; else each heading in it has its
    own. What is too long without a heading is cut between paragraphs, lines, sentences, words, or
    anywhere. A heading without a text stands at the end of the part before it, if that has room.
    """
    return split_sections(split_markdown(text), most)


def split_sections(parts: Iterable[Section], most: int) -> list[NumberedPart]:
    """Cut the sections of a text as `split_text` does, into parts that know their lines."""
    sections = list(parts)
    lengths = [len(each.line) + len(each.body) for each in sections]
    ends = list(accumulate(lengths, initial=0))
    found: list[NumberedPart] = []
    above: list[Section] = []
    at = 0
    while at < len(sections):
        section = sections[at]
        while above and above[-1].level >= section.level:
            above.pop()
        path = tuple(each.title for each in (*above, section) if each.title)
        stop = at + 1
        while section.level and stop < len(sections) and sections[stop].level > section.level:
            stop += 1
        number = section.number + section.line.count("\n")
        last = section.line.rstrip().rpartition("\n")[2]
        is_heading = _HEADING.match(last) or _UNDERLINE.fullmatch(last)
        if stop == at + 1 and is_heading and not section.body.strip():
            part = _number_part(path, section.line, section.number)
            if found and len(found[-1].text) + len(part.text) + 2 <= most:
                before = found.pop()
                joined = "\n\n".join(filter(None, (before.text, part.text)))
                part = before._replace(text=joined, last=part.last)
            found.append(part)
            at = stop
            continue
        if ends[stop] - ends[at] <= most:
            below = [each.line + each.body for each in sections[at + 1 : stop]]
            whole = _number_part(path, section.body + "".join(below), number)
            found.append(whole._replace(first=section.number) if section.level else whole)
            at = stop
            continue
        pieces = list(_split_pieces(section.body, most))
        for count, piece in enumerate(pieces):
            part = _number_part(path, piece, number, goes_on=count > 0)
            found.append(
                part if count or not section.level else part._replace(first=section.number)
            )
            number += piece.count("\n")
        above.append(section)
        at += 1
    return [part for part in found if part.text.strip() or part.path]


def _number_part(
    path: tuple[str, ...], text: str, number: int, *, goes_on: bool = False
) -> NumberedPart:
    """Return a part without empty lines at its ends; the text begins at line `number`."""
    bare = text.strip("\n")
    first = number + len(text) - len(text.lstrip("\n"))
    return NumberedPart(path, bare, first, first + bare.count("\n"), goes_on)


def find_heading(text: str) -> str:
    """Return the first heading of a text, "" if there is none."""
    return next((each.title for each in split_markdown(text) if each.title), "")


def plain_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text that are not code."""
    return (line for line, code in mark_code_lines(text) if not code)


def mark_code_lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line with its line end, and whether it belongs to a fence of code."""
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if not fence:
            fence = mark.group(1) if mark else ""
            yield line, bool(fence)
            continue
        yield line, True
        if mark and mark.group(1).startswith(fence) and not line[mark.end() :].strip():
            fence = ""


def begins_section(line: str) -> bool:
    """Tell whether a line stands above what follows: a heading, a rule, bold words, `words:`."""
    return bool(_LEAD.fullmatch(line.rstrip()))


def count_indent(line: str) -> int:
    """Return the width of the blanks before the first word of a line."""
    wide = line.expandtabs(4)
    return len(wide) - len(wide.lstrip())


def split_markdown(text: str) -> Iterator[Section]:
    """Yield the sections of a Markdown text."""
    level, title, head, start = 0, "", "", 1
    ended = 0  # lines; `splitlines` ends them at other characters, too
    body: list[str] = []
    for line, code in mark_code_lines(text):
        number, ended = ended + 1, ended + line.endswith("\n")
        heading = None if code else _HEADING.match(line.rstrip())
        under = None if code else _UNDERLINE.fullmatch(line.rstrip())
        if under and _is_underlined(body):
            above = body.pop()
            if level or body:
                yield Section(level, title, head, "".join(body), start)
            start, level, title = number - 1, 1 if under[1] else 2, above.strip()
            head, body = above + line, []
            continue
        if not heading:
            body.append(line)
            continue
        if level or body:
            yield Section(level, title, head, "".join(body), start)
        start, level, title = number, len(heading.group(1)), _CLOSING.sub("", heading.group(2))
        head, body = line, []
    yield Section(level, title, head, "".join(body), start)


def _is_underlined(body: list[str]) -> bool:
    """Tell whether a line of `=` or `-` makes the last line, which stands alone, a heading."""
    if not body or (len(body) > 1 and body[-2].strip()):
        return False
    last = body[-1]
    return (
        bool(last.strip())
        and len(last) - len(last.lstrip(" ")) < 4
        and last.strip()[0] not in "-*+>|#<`~="
    )


def _split_pieces(text: str, most: int) -> Iterator[str]:
    pending: list[str] = []
    size = 0
    for atom in _split_atoms(text, most):
        if size + len(atom) > most and "".join(pending).strip():
            yield "".join(pending)
            pending, size = [], 0
        pending.append(atom)
        size += len(atom)
    if "".join(pending).strip():
        yield "".join(pending)


def _split_atoms(text: str, most: int) -> Iterator[str]:
    """Yield the units of a text: paragraphs and fences of code; of those too long, the lines."""
    for paragraph in _split_paragraphs(text):
        if len(paragraph) <= most:
            yield paragraph
            continue
        for line in paragraph.splitlines(keepends=True):
            yield from _split_line(line, most)


def _split_line(line: str, most: int) -> Iterator[str]:
    """Cut a line behind a sentence, else behind a word, where either is in the second half."""
    start = 0
    while len(line) - start > most:
        end = start + most
        for pattern in (_SENTENCE_END, _WORD_END):
            ends = [found.end() for found in pattern.finditer(line, start + most // 2, end)]
            if ends:
                end = ends[-1]
                break
        yield line[start:end]
        start = end
    yield line[start:]


def _split_paragraphs(text: str) -> Iterator[str]:
    pending: list[str] = []
    for line, code in mark_code_lines(text):
        pending.append(line)
        if not code and not line.strip():
            yield "".join(pending)
            pending = []
    yield "".join(pending)
