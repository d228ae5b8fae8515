"""Documents as the JSON that the full-text index takes, with the fields derived from their text."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memfs.core.records import Message
from memfs.search.identifiers import join_parts
from memfs.search.stopwords import replace_surrogates

if TYPE_CHECKING:
    from tantivy import Schema


_WEIGHTS = {"assistant": 85, "tool": 70}  # percent of the weight of a user's message

_LONG = 1000  # characters; longer texts are never duplicates
_SIGNS = b"+-/%=<>&|^~#@$!\\"  # these may reverse a text's meaning
_HASHED = bytes(c if c > 127 or chr(c).isalnum() or c in _SIGNS else 32 for c in range(256))
_SEPARATED = bytes(c if c > 127 or chr(c).isalnum() else 32 for c in range(256))
_SHORT = 4096  # characters; longer texts are not cached
_SHORTEST = 4  # letters (or bytes) of a word that can be a correction
_BEGINNING = 500  # characters of a tool's output whose words can be corrections


def prepare_document(document: Mapping[str, object]) -> str:
    """Return a document as JSON with the derived fields; lone surrogates are replaced."""
    return encode({name: replace_surrogates(value) for name, value in document.items()})


def encode(document: dict[str, object]) -> str:
    """Return a document of valid Unicode as JSON, with the fields derived from its text."""
    text = str(document.get("text", ""))
    extract = _extract_cached if len(text) <= _SHORT else _extract_fields
    said, exact, parts = extract(text, document.get("role") == "tool")
    document["said"] = said
    document["exact"] = exact
    if parts:
        document["parts"] = parts
    return _load_encoder()(document).decode()


def add_number(prepared: str, number: int, source: str) -> str:
    """Return a prepared document with its number and its source (see `quote_path`)."""
    return f'{{"num":{number},"source":{source},{prepared[1:]}'


def quote_path(path: str) -> str:
    """Return a path as JSON."""
    return _load_encoder()(replace_surrogates(path)).decode()


@functools.cache
def _load_encoder() -> Callable[[object], bytes]:
    import msgspec  # 10 ms: a search may index nothing

    return msgspec.json.Encoder().encode


def _extract_fields(text: str, tool: bool) -> tuple[int, str, str]:
    """Return the hash of a text for finding duplicates, its distinct words, and their parts.

    The hash is of words and signs in their order, 0 for a text without words, or a long one:
    case, spaces and punctuation may differ.
    """
    long = len(text) > _LONG
    words = set() if tool and long else _list_words(text)
    exact_words = _list_words(text[:_BEGINNING]) if tool and len(text) > _BEGINNING else words
    exact = b" ".join([word for word in exact_words if len(word) >= _SHORTEST]).decode()
    said = zlib.crc32(b" ".join(_split_words(text, _HASHED))) if words and not long else 0
    return said, exact, join_parts(text)


_extract_cached = functools.lru_cache(4096)(_extract_fields)  # texts of sessions often recur


def _list_words(text: str) -> set[bytes]:
    return set(_split_words(text, _SEPARATED))


def _split_words(text: str, signs: bytes) -> list[bytes]:
    return text.encode("utf-8", "replace").lower().translate(signs).split()


def schema(exact: Iterable[str]) -> Schema:
    """Return the schema of the full-text index; fields in `exact` are matched by whole values."""
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
    builder.add_text_field("meta", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("exact", tokenizer_name="memfs_exact", index_option="basic")
    builder.add_text_field("parts", tokenizer_name="memfs_parts", index_option="basic")
    return builder.build()


def document(message: Message) -> dict[str, object]:
    """Return the document of a message."""
    found = {
        "id": f"{message.host}/{message.session}/{message.id}",
        "kind": "message",
        "text": message.text,
        "role": message.role,
        "host": message.host,
        "session": message.session,
        "project": message.project,
        "branch": message.branch,
        "group": _hash_session(message.host, message.session),
        "weight": _WEIGHTS.get(message.role, 100),
        "at": epoch(message.at) or 0,
        "time": message.at,
    }
    return {**found, "speaker": message.speaker} if message.speaker else found


@functools.lru_cache(64)
def _hash_session(host: str, session: str) -> int:
    if not session:
        return 0
    return zlib.crc32(f"{host}/{session}".encode("utf-8", "replace")) or 1


def epoch(text: str) -> int | None:
    """Return the seconds since 1970 of an ISO 8601 time (UTC if it names no zone), or None."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
