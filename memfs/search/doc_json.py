"""What is indexed of a document besides what its source says of it."""

from __future__ import annotations

import functools
import zlib
from typing import TYPE_CHECKING

from memfs.search.identifiers import join_parts
from memfs.search.stopwords import replace_surrogates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tantivy import Schema

_LONG = 1000  # characters; longer texts that say the same are two texts all the same
_SIGNS = b"+-/%=<>&|^~#@$!\\"  # without them a text may say the opposite
_TOLD = bytes(c if c > 127 or chr(c).isalnum() or c in _SIGNS else 32 for c in range(256))
_SPACED = bytes(c if c > 127 or chr(c).isalnum() else 32 for c in range(256))
_SHORT = 4096  # characters of a text that may come again
_SHORTEST = 4  # letters (or bytes) of a word that a mistyped one may be meant to be
_BEGINNING = 500  # characters of a tool's output whose words a mistyped one may be meant to be


def prepared(document: Mapping[str, object]) -> str:
    """Return a document as the full-text index takes it: JSON, and its words' parts in it."""
    return encoded({name: replace_surrogates(value) for name, value in document.items()})


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


def add_number(prepared: str, number: int, source: str) -> str:
    """Return a prepared document with its number and its source, a path as `quoted` gives it."""
    return f'{{"num":{number},"source":{source},{prepared[1:]}'


def quote_path(path: str) -> str:
    """Return a path as JSON."""
    return _encoder()(replace_surrogates(path)).decode()


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
    return same, exact, join_parts(text)


_remembered = functools.lru_cache(4096)(_fields)  # a file that is read, or a whole session, twice


def _words(text: str) -> set[bytes]:
    """Return the words of a text, each once; what of it is not ASCII stays as it is written."""
    return set(_cut(text, _SPACED))


def _cut(text: str, signs: bytes) -> list[bytes]:
    return text.encode("utf-8", "replace").lower().translate(signs).split()


def schema(exact: Iterable[str]) -> Schema:
    """Return which fields the full-text index has; of those in `exact` whole values are found."""
    from tantivy import SchemaBuilder  # for a new index alone

    builder = SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    for name in exact:
        builder.add_text_field(name, stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("num", stored=True, indexed=True, fast=True)
    builder.add_integer_field("at", stored=True, indexed=True, fast=True)
    builder.add_unsigned_field("importance", stored=True, indexed=True, fast=True)
    builder.add_unsigned_field("group", stored=True, indexed=False, fast=True)
    builder.add_unsigned_field("weight", stored=False, indexed=False, fast=True)
    builder.add_unsigned_field("said", stored=False, indexed=False, fast=True)
    builder.add_text_field("time", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("text", stored=True, tokenizer_name="memfs", index_option="position")
    builder.add_text_field("exact", tokenizer_name="memfs_exact", index_option="basic")
    builder.add_text_field("parts", tokenizer_name="memfs_parts", index_option="basic")
    return builder.build()
