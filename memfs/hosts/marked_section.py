"""Instruction files, and our section in them: between two marks; nothing else is touched."""

import re
from typing import NamedTuple

MARKS = ("<!-- memfs: begin -->", "<!-- memfs: end -->")  # of our section in them

_BOM = "\ufeff"
_BEHIND = re.compile(r"[ \t]*(?:[\r\n]|\Z)")  # what may be behind a mark


class _Span(NamedTuple):
    """Where a section stands, from the first character of its begin to the last of its end."""

    start: int
    stop: int
    newline: str


def put_section(text: str | None, section: str, begin: str, end: str) -> str:
    """Return the text with the section in place of the one that is there, else at its end.

    None stands for a missing file. `remove_section` restores the former text.
    """
    found = _find(text or "", begin, end)
    newline = found.newline if found else "\r\n" if "\r\n" in (text or "") else "\n"
    whole = newline.join([begin, *section.strip("\n").split("\n"), end])
    if found:
        return (text or "")[: found.start] + whole + (text or "")[found.stop :]
    # An empty line before it; one line end alone says that the text had none at its end.
    return ("" if text is None else text + newline) + whole + newline


def remove_section(text: str, begin: str, end: str) -> str:
    """Return the text without the section, and without the line end that came before it."""
    found = _find(text, begin, end)
    if not found:
        return text
    before = text[: found.start]
    behind = text[found.stop :].removeprefix(found.newline)
    if not behind or before.endswith(found.newline * 2):
        before = before.removesuffix(found.newline)
    return before + behind


def has_section(text: str, begin: str, end: str) -> bool:
    """Return whether the text has the complete section."""
    return _find(text, begin, end) is not None


def has_mark(text: str, begin: str, end: str) -> bool:
    """Return whether the text has any mark of ours."""
    return bool(_find_lines(text, begin) or _find_lines(text, end))


def problem(text: str, begin: str, end: str) -> str:
    """Return why the section's begin and end are ambiguous, "" if they are not or it is missing."""
    begins, ends = _find_lines(text, begin), _find_lines(text, end)
    if len(begins) > 1 or len(ends) > 1:
        mark, found = (begin, begins) if len(begins) > 1 else (end, ends)
        return f"{mark} occurs {len(found)} times (lines {_format_numbers(text, found)})"
    if begins and not ends:
        return f"line {_format_numbers(text, begins)} has {begin}, but {end} is missing"
    if ends and not begins:
        return f"line {_format_numbers(text, ends)} has {end}, but {begin} is missing"
    if begins and ends[0] < begins[0]:
        return f"{end} on line {_format_numbers(text, ends)} is before {begin}"
    return ""


def _find(text: str, begin: str, end: str) -> _Span | None:
    """Return the span of the section; None for half of one."""
    begins = _find_lines(text, begin)
    for last in _find_lines(text, end):
        start = max((at for at in begins if at < last), default=None)
        if start is not None:
            behind = text[start + len(begin) :].lstrip(" \t")
            newline = "\r\n" if behind.startswith("\r\n") else behind[0]
            return _Span(start, last + len(end), newline)
    return None


def _find_lines(text: str, mark: str) -> list[int]:
    """Return the offsets of a mark alone on its line; a byte order mark may be before it."""
    found = []
    at = text.find(mark)
    while at >= 0:
        stop = at + len(mark)
        start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
        before = text[start:at] if start else text[:at].removeprefix(_BOM)
        behind = _BEHIND.match(text, stop)
        if behind and not before.strip(" \t"):
            found.append(at)
        at = text.find(mark, stop)
    return found


def _format_numbers(text: str, places: list[int]) -> str:
    return ", ".join(str(text.count("\n", 0, at) + 1) for at in places)


class InstructionFile(NamedTuple):
    """A file, relative to the project, and the head of one that we create."""

    name: str
    path: str
    head: str = ""


_CURSOR = """\
---
description: The memory of this project, kept by memfs
globs:
alwaysApply: true
---
"""

TARGETS = {
    target.name: target
    for target in (
        InstructionFile("agents", "AGENTS.md"),
        InstructionFile("claude", "CLAUDE.md"),
        InstructionFile("gemini", "GEMINI.md"),
        InstructionFile("cursor", ".cursor/rules/memfs.mdc", _CURSOR),
        InstructionFile("copilot", ".github/copilot-instructions.md"),
        InstructionFile("windsurf", ".windsurfrules"),
    )
}
