"""Sections with the same heading become one: what stands below the later joins the first."""

from __future__ import annotations

import re

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*?)[ \t#]*\n?")
_COMMENT = re.compile(r"^[ \t]*<!--", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(```|~~~)")


class _Section:
    """A heading (of level 0: the beginning), its own lines, and the sections below it."""

    def __init__(self, level: int, title: str, lines: list[str]) -> None:
        self.level, self.title, self.lines = level, title, lines
        self.below: list[_Section] = []


def join_sections(body: str) -> str:
    """Return a body in which no two sections below one heading have the same title and level.

    Their lines keep their order. A body without such sections is returned as it is, and so is one
    with comments: they may mark a part that another program keeps.
    """
    top = None if _COMMENT.search(body) else _parse(body)
    return "".join(_render(top)) if top and _join(top) else body


def _parse(body: str) -> _Section | None:
    """Return the sections of a body; None where a fence of code has no end."""
    top = _Section(0, "", [])
    above = [top]
    fence = ""
    for line in body.splitlines(keepends=True):
        if mark := _FENCE.match(line):
            fence = "" if fence == mark[1] else fence or mark[1]
        found = None if fence or mark else _HEADING.fullmatch(line)
        if found is None:
            above[-1].lines.append(line)
            continue
        level = len(found[1])
        while above[-1].level >= level:
            above.pop()
        section = _Section(level, " ".join(found[2].lower().split()), [line])
        above[-1].below.append(section)
        above.append(section)
    return None if fence else top


def _join(section: _Section) -> bool:
    """Join the sections below one, and below those; tell whether any were."""
    joined = False
    kept: dict[tuple[int, str], _Section] = {}
    for each in section.below:
        first = kept.setdefault((each.level, each.title), each)
        if first is not each:
            own, more = _trim(first.lines), _trim(each.lines[1:])
            first.lines = [*own, *more, *first.lines[len(own) :]]
            first.below += each.below
            joined = True
    section.below = list(kept.values())
    for each in section.below:
        joined |= _join(each)
    return joined


def _trim(lines: list[str]) -> list[str]:
    """Return lines without the empty ones at their end; the last one ends like all others."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    kept = lines[:end]
    return [*kept[:-1], kept[-1].rstrip("\n") + "\n"] if kept else []


def _render(section: _Section) -> list[str]:
    return [*section.lines, *(line for each in section.below for line in _render(each))]
