"""The pages of the documentation, and the commands that they print."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

TOP = Path(__file__).parents[2]
PAGES = (
    TOP / "README.md",
    *sorted((TOP / "docs").glob("*.md")),
    *sorted((TOP / "docs/contributing").glob("*.md")),
)
FENCE = re.compile(r"^ *```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_ASSIGNED = re.compile(r"[A-Z_]+=")
_BETWEEN = frozenset(("&&", "||", "|", ";", "&"))
_REDIRECTED = frozenset((">", ">>", "<"))


def list_printed_lines(page: Path) -> list[str]:
    """List the lines of a page's `sh` fences, continued lines joined."""
    fences = FENCE.findall(page.read_text(encoding="utf-8"))
    return [line for fence in fences for line in fence.replace("\\\n", " ").splitlines()]


def split_line(line: str) -> Iterator[list[str]]:
    """Yield the words of each command in a line of the shell, without the variables that it sets."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;<>")
    lexer.whitespace_split = True
    command: list[str] = []
    words = iter([*lexer, "&&"])
    for word in words:
        if word in _REDIRECTED:
            next(words)  # the file
            continue
        if word not in _BETWEEN:
            command.append(word)
            continue
        while command and _ASSIGNED.match(command[0]):
            command.pop(0)
        if command:
            yield command
        command = []


def list_arguments(line: str) -> list[list[str]]:
    """List the arguments of each `memfs` in a line of the shell."""
    return [command[1:] for command in split_line(line) if command[0] == "memfs"]
