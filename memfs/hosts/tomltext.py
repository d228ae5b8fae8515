"""A table of ours in somebody's TOML: below a comment that says so, up to the next table.

There is no mark at its end: what other programs add to a file, they may add before one.
"""

from __future__ import annotations

MARK = "# by memfs install; memfs uninstall takes it out"


def put(text: str, table: str) -> str:
    """Return the text with the table in place of ours of that name, else at its end.

    `table` begins with its header line.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = table.strip("\n").split("\n")
    found = _find(text, table)
    if found:
        keys = {_key(line) for line in lines}
        theirs = text[found[0] : found[1]].splitlines()[2:]  # with what their user added
        kept = [line for line in theirs if _key(line) not in keys]
        whole = newline.join([MARK, *lines, *kept]) + newline
        return text[: found[0]] + whole + text[found[1] :]
    whole = newline.join([MARK, *lines]) + newline
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return text + gap + whole


def take(text: str, table: str) -> str:
    """Return the text without our table, and without an empty line that stood before it."""
    found = _find(text, table)
    if not found:
        return text
    before, behind = text[: found[0]], text[found[1] :]
    for newline in ("\r\n", "\n"):
        if before.endswith(newline * 2) and (not behind or behind.startswith(newline)):
            return before[: -len(newline)] + behind
    return before + behind


def has(text: str, table: str) -> bool:
    """Tell whether our table of that name is there."""
    return _find(text, table) is not None


def _key(line: str) -> str:
    name, equals, _ = line.partition("=")
    return name.strip() if equals else line


def _find(text: str, table: str) -> tuple[int, int] | None:
    """Return where our table begins, its mark included, and where it ends, blank lines not."""
    header = table.strip().partition("\n")[0].strip()
    below = header[:-1] + "."  # tables of it
    at = end = 0
    begin = -1
    marked = -1
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        bare = line.strip()
        if begin >= 0 and bare.startswith("[") and not bare.startswith(below):
            break
        if marked >= 0 and bare == header:
            begin = marked
        marked = start if bare == MARK else -1
        if bare and not bare.startswith("#"):
            end = at
    return (begin, end) if begin >= 0 else None
