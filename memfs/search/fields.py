"""What is indexed of a document besides what its source says of it."""

from __future__ import annotations

import functools
import zlib
from typing import TYPE_CHECKING

from memfs.search.identifiers import joined
from memfs.search.words import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LONG = 1000  # characters; longer texts that say the same are two texts all the same
_SIGNS = b"+-/%=<>&|^~#@$!\\"  # without them a text may say the opposite
_TOLD = bytes(c if c > 127 or chr(c).isalnum() or c in _SIGNS else 32 for c in range(256))
_SPACED = bytes(c if c > 127 or chr(c).isalnum() else 32 for c in range(256))
_SHORT = 4096  # characters of a text that may come again
_SHORTEST = 4  # letters (or bytes) of a word that a mistyped one may be meant to be
_BEGINNING = 500  # characters of a tool's output whose words a mistyped one may be meant to be


def prepared(document: Mapping[str, object]) -> str:
    """Return a document as the full-text index takes it: JSON, and its words' parts in it."""
    return encoded({name: clean(value) for name, value in document.items()})


def encoded(document: dict[str, object]) -> str:
    """Return a document of valid Unicode as JSON, with the fields that its text is searched by."""
    text = str(document.get("text", ""))
    find = _remembered if len(text) <= _SHORT else _fields
    said, exact, parts = find(text, document.get("role") == "tool")
    document["said"] = said
    document["exact"] = exact
    if parts:
        document["parts"] = parts
    return _encoder()(document).decode()


def numbered(prepared: str, number: int, source: str) -> str:
    """Return a prepared document with its number and its source, a path as `quoted` gives it."""
    return f'{{"num":{number},"source":{source},{prepared[1:]}'


def quoted(path: str) -> str:
    """Return a path as JSON."""
    return _encoder()(clean(path)).decode()


@functools.cache
def _encoder() -> Callable[[object], bytes]:
    import msgspec  # 10 ms: who searches may have nothing to index

    return msgspec.json.Encoder().encode


def _fields(text: str, tool: bool) -> tuple[int, str, str]:
    """Return what texts have in common that say the same, and words and their parts, each once.

    The first is a hash of words and signs in their order, 0 for a text without words, or a long
    one: case, spaces and punctuation may differ.
    """
    long = len(text) > _LONG
    said = set() if tool and long else _words(text)
    near = _words(text[:_BEGINNING]) if tool and len(text) > _BEGINNING else said
    exact = b" ".join([word for word in near if len(word) >= _SHORTEST]).decode()
    same = zlib.crc32(b" ".join(_cut(text, _TOLD))) if said and not long else 0
    return same, exact, joined(text)


_remembered = functools.lru_cache(4096)(_fields)  # a file that is read, or a whole session, twice


def _words(text: str) -> set[bytes]:
    """Return the words of a text, each once; what of it is not ASCII stays as it is written."""
    return set(_cut(text, _SPACED))


def _cut(text: str, signs: bytes) -> list[bytes]:
    return text.encode("utf-8", "replace").lower().translate(signs).split()
