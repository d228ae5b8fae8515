"""JSON files of other tools: read within limits, the elements of a large list one by one."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from memfs.core.errors import StoreError
from memfs.files import outside
from memfs.importers.readers.field_values import parse_object

if TYPE_CHECKING:
    from _typeshed import SupportsRead

LARGEST = 256 << 20  # bytes of a document that is read whole
LONGEST = 64 << 20  # characters of one element, or line
SETTINGS = 16 << 20  # bytes of a file of settings, or of a list of tasks
_PIECE = 1 << 20
_BLANK = "\ufeff \t\r\n"
_SPACE = re.compile(f"[{_BLANK}]*")
_DECODER = json.JSONDecoder()


def read_head(path: str, size: int = 4096) -> str:
    """Return the beginning of a file as text, "" for a folder or what cannot be read."""
    try:
        with outside.open_stream(path) as handle:
            return handle.read(size).decode("utf-8", "replace").lstrip(_BLANK)
    except OSError:
        return ""


def read_object(path: str) -> dict[str, object]:
    """Return the object in a small file, of settings for one; {} for anything else."""
    return parse_object(read_head(path, SETTINGS))


def load(path: str) -> object:
    """Parse a JSON file. Raises `OSError`; `StoreError` for one that is too large or damaged."""
    with outside.open_stream(path) as handle:
        data = handle.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise StoreError(f"{path} is larger than {LARGEST >> 20} MB", "split the file")
    try:
        found: object = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"{path} is not valid JSON ({_describe(error)})", "export the data again"
        ) from None
    return found


def iter_elements(stream: SupportsRead[bytes], name: str) -> Iterator[object]:
    """Yield the elements of a JSON list as they are read, so that a list of gigabytes fits.

    A document that is one object is yielded as one element. Raises `StoreError` where the list ends
    early or an element is damaged: those before it count.
    """
    buffer = _Buffer(stream)
    first = buffer.peek()
    if first == "{":
        yield _decode_element(buffer, name)
        return
    if first != "[":
        raise StoreError(f"{name} is not a JSON list", "export the data again")
    buffer.skip(1)
    while buffer.peek() != "]":
        yield _decode_element(buffer, name)
        if buffer.peek() == ",":
            buffer.skip(1)
        elif buffer.peek() != "]":
            raise StoreError(
                f"{name} is incomplete: its list ends after element {buffer.count:,}",
                "export the data again",
            )


def _decode_element(buffer: _Buffer, name: str) -> object:
    try:
        return buffer.decode_value()
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"{name} is damaged after element {buffer.count:,} ({_describe(error)})",
            "export the data again",
        ) from None


def iter_lines(path: str) -> Iterator[tuple[int, object]]:
    """Yield (number, value) of the lines of a file of JSON lines; None for a line that is none."""
    with outside.open_stream(path) as handle:
        number = 0
        while line := handle.readline(LONGEST):
            number += 1
            text = line.decode("utf-8-sig", "replace").strip()
            if text:
                value: object = None
                with suppress(ValueError, RecursionError):
                    value = json.loads(text)
                yield number, value


class _Buffer:
    def __init__(self, stream: SupportsRead[bytes]) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._text, self._at, self._ended = "", 0, False
        self.count = 0  # values so far

    def peek(self) -> str:
        """Return the next character that is no white space, "" at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text) or not self._fill():
                return self._text[self._at : self._at + 1]

    def skip(self, number: int) -> None:
        self._at += number

    def decode_value(self) -> object:
        """Decode the value here. Raises `ValueError`."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except ValueError:
                if len(self._text) - self._at > LONGEST or not self._fill():
                    raise
                continue
            # A number at the end of the window may go on.
            if end == len(self._text) and self._fill():
                continue
            self._at = end
            self.count += 1
            return value

    def _fill(self) -> bool:
        """Read on, twice as much as is there; False at the end."""
        if self._ended:
            return False
        data = self._stream.read(max(_PIECE, len(self._text) - self._at))
        self._ended = not data
        self._text = self._text[self._at :] + self._decode(data, final=self._ended)
        self._at = 0
        return not self._ended


def _describe(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)[:100]
