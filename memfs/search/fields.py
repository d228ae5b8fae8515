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
_BEGINNING = 500  # characters of a tool's output whose words a mistyped one may be meant to be


def prepared(document: Mapping[str, object]) -> dict[str, object]:
    """Return a document as the full-text index takes it: valid Unicode, and its words' parts."""
    return with_words({name: clean(value) for name, value in document.items()})


def with_words(document: dict[str, object]) -> dict[str, object]:
    """Add to a document of valid Unicode the fields that its text is searched by."""
    text = str(document.get("text", ""))
    document["exact"] = text[:_BEGINNING] if document.get("role") == "tool" else text
    document["said"] = _said(text)
    if inner := joined(text):
        document["parts"] = inner
    return document


def _said(text: str) -> int:
    """Return what texts have in common that say the same: a hash of their words in any order.

    0 for a text without words, or a long one.
    """
    if len(text) > _LONG:
        return 0
    found = set(text.encode("utf-8", "replace").lower().translate(_SPACED).split())
    return zlib.crc32(b" ".join(sorted(found))) if found else 0
