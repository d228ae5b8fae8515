"""A section of ours in a file of somebody else: between two marks, and nothing else is touched."""

from __future__ import annotations


def put(text: str, section: str, begin: str, end: str) -> str:
    """Return the text with the section in place of the one that is there, else at its end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    whole = newline.join([begin, *section.strip("\n").split("\n"), end]) + newline
    found = _find(text, begin, end)
    if found:
        return text[: found[0]] + whole + text[found[1] :]
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return text + gap + whole


def take(text: str, begin: str, end: str) -> str:
    """Return the text without the section, and without the empty line that stood before it."""
    found = _find(text, begin, end)
    if not found:
        return text
    before, behind = text[: found[0]], text[found[1] :]
    for newline in ("\r\n", "\n"):
        if before.endswith(newline * 2):
            return before[: -len(newline)] + behind
    return before + behind


def has(text: str, begin: str, end: str) -> bool:
    """Tell whether the section is there, whole."""
    return _find(text, begin, end) is not None


def _find(text: str, begin: str, end: str) -> tuple[int, int] | None:
    """Return where the section begins and ends, its line ends included; None for half of one."""
    start = at = 0
    opened = -1
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        if line.strip() == begin:
            opened = start
        elif line.strip() == end and opened >= 0:
            return opened, at
    return None
