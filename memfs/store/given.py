"""What assistants were given at their prompts, and what stayed below the floor. Hot path to write.

A line each in `local/given.tsv`, the newest last; of what grows large the older half goes. The
prompt itself is not kept here: recall has it, and without its secrets.
"""

import os

from memfs import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.store.layout import Store

_NAME = "given.tsv"
_LARGEST = 1 << 18  # bytes
_FIELDS = 8


class Given:
    """What a prompt was answered with: `text`, "" for nothing.

    `about` is how much the best exchange of past sessions is about the prompt, `floor` what it
    needs to be shown; `nearest` names it (date, session and its beginning), `why` says for each
    session that was shown what matched. `at` is in seconds since 1970.
    """

    __slots__ = ("about", "at", "floor", "host", "nearest", "session", "text", "why")

    def __init__(
        self, at: float, host: str, session: str, about: float, floor: float, nearest: str,
        why: str, text: str,
    ) -> None:  # fmt: skip
        self.at, self.host, self.session = at, host, session
        self.about, self.floor = about, floor
        self.nearest, self.why, self.text = nearest, why, text


def note(store: "Store", what: Given) -> None:
    """Note what a prompt was given. Raises `OSError`."""
    numbers = (f"{what.at:.0f}", what.host, what.session, f"{what.about:.2f}", f"{what.floor:.2f}")
    fields = (*numbers, what.nearest, what.why, what.text)
    line = "\t".join(map(_escape, fields)) + "\n"
    path = f"{store.local}/{_NAME}"
    if files.size(path) > _LARGEST:
        _halve(path)
    handle, _ = files.open_file(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        files.write_all(handle, line.encode("utf-8", "replace"))
    finally:
        os.close(handle)


def read(store: "Store", most: int) -> list[Given]:
    """Return what the last prompts were given, the newest first."""
    text = files.read(f"{store.local}/{_NAME}", cap=4 * _LARGEST) or ""
    found = filter(None, map(_parsed, text.split("\n")))
    return list(found)[: -most - 1 : -1]


def _halve(path: str) -> None:
    from memfs.files import atomic

    lines = (files.read(path, cap=4 * _LARGEST) or "").splitlines(keepends=True)
    atomic.write(path, "".join(lines[len(lines) // 2 :]), private=True, durable=False)


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", " ")


def _unescape(text: str) -> str:
    parts = [part.replace("\\n", "\n").replace("\\t", "\t") for part in text.split("\\\\")]
    return "\\".join(parts)


def _parsed(line: str) -> Given | None:
    fields = [_unescape(each) for each in line.split("\t")]
    if len(fields) != _FIELDS:
        return None
    at, host, session, about, floor, nearest, why, text = fields
    try:
        return Given(float(at), host, session, float(about), float(floor), nearest, why, text)
    except ValueError:
        return None
