"""A table of ours in somebody's TOML: below a comment that says so, up to the next table.

There is no mark at its end: what other programs add to a file, they may add before one.
"""

import re
from collections.abc import Iterator

MARK = "# by memfs install; memfs uninstall takes it out"
_TOKEN = re.compile(
    r'''"""(?:[^\\]|\\.)*?"{3,5}|'{3}.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[][{}\n]''',
    re.DOTALL,
)


def put_table(text: str, table: str) -> str:
    """Return the text with the table in place of ours of that name, else at its end.

    `table` begins with its header line.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = table.strip("\n").split("\n")
    found = _find(text, table)
    if found:
        additions = "".join(_find_additions(text[found[0] : found[1]], lines))
        whole = newline.join([MARK, *lines]) + newline + additions
        return text[: found[0]] + whole + text[found[1] :]
    whole = newline.join([MARK, *lines]) + newline
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return text + gap + whole


def remove_table(text: str, table: str) -> str:
    """Return the text without our table, and without an empty line that stood before it."""
    found = _find(text, table)
    if not found:
        return text
    before, behind = text[: found[0]], text[found[1] :]
    for newline in ("\r\n", "\n"):
        if before.endswith(newline * 2) and (not behind or behind.startswith(newline)):
            return before[: -len(newline)] + behind
    return before + behind


def has_table(text: str, table: str) -> bool:
    """Return whether the text has our table of that name."""
    return _find(text, table) is not None


def _find_additions(table: str, lines: list[str]) -> Iterator[str]:
    """Yield the statements that a user added to our table: keys not in `lines`, and subtables."""
    keys = {_get_key(line) for line in lines}
    below = False
    for statement in list(_split_statements(table))[2:]:
        below = below or statement.lstrip().startswith("[")
        if below or _get_key(statement) not in keys:
            yield statement


def _get_key(statement: str) -> str:
    name, equals, _ = statement.partition("=")
    return name.strip() if equals else statement


def _split_statements(text: str) -> Iterator[str]:
    """Cut a text into lines; a string or list over several lines is one statement."""
    start = depth = 0
    for found in _TOKEN.finditer(text):
        piece = found[0]
        depth += (piece in ("[", "{")) - (piece in ("]", "}"))
        if piece == "\n" and not depth:
            yield text[start : found.end()]
            start = found.end()
    if start < len(text):
        yield text[start:]


def _find(text: str, table: str) -> tuple[int, int] | None:
    """Return the span of our table, with its mark and without blank lines at its end."""
    header = table.strip().partition("\n")[0].strip()
    below = header[:-1] + "."  # tables of it
    at = end = 0
    begin = -1
    marked = -1
    for statement in _split_statements(text):
        start, at = at, at + len(statement)
        bare = statement.strip()
        if begin >= 0 and bare.startswith("[") and not bare.startswith(below):
            break
        if marked >= 0 and bare == header:
            begin = marked
        marked = start if bare == MARK else -1
        if bare and not bare.startswith("#"):
            end = at
    return (begin, end) if begin >= 0 else None
