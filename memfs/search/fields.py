"""What is indexed of a document besides what its source says of it."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from memfs.search.identifiers import joined
from memfs.search.words import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONG = 1000  # characters; longer texts that say the same are two texts all the same
_SPACED = bytes(c if c > 127 or chr(c).isalnum() else 32 for c in range(256))
_SHORTEST = 4  # letters (or bytes) of a word that a mistyped one may be meant to be
_BEGINNING = 500  # characters of a tool's output whose words a mistyped one may be meant to be


def prepared(document: Mapping[str, object]) -> dict[str, object]:
    """Return a document as the full-text index takes it: valid Unicode, and its words' parts."""
    return with_words({name: clean(value) for name, value in document.items()})


def with_words(document: dict[str, object]) -> dict[str, object]:
    """Add to a document of valid Unicode the fields that its text is searched by."""
    text = str(document.get("text", ""))
    short = len(text) <= _LONG
    tool = document.get("role") == "tool"
    said = _words(text) if short or not tool else set()
    near = _words(text[:_BEGINNING]) if tool and len(text) > _BEGINNING else said
    document["exact"] = b" ".join([word for word in near if len(word) >= _SHORTEST]).decode()
    # What texts have in common that say the same: a hash of their words in any order.
    document["said"] = zlib.crc32(b" ".join(sorted(said))) if short and said else 0
    document["parts"] = joined(text)
    return document


def _words(text: str) -> set[bytes]:
    """Return the words of a text, each once; what of it is not ASCII stays as it is written."""
    return set(text.encode("utf-8", "replace").lower().translate(_SPACED).split())
