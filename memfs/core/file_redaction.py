"""Secrets in whole files: where they are, and the same files without them. Pure.

A file is plain text, JSON, or JSON lines. In JSON the decoded strings are searched; names (ids,
times, labels) are left alone. What is no JSON is plain text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from memfs.secrets import find_secrets, redact

Form = Literal["text", "json", "lines"]
_SHOWN = 3  # characters of a secret that are shown
_LONG = 12  # characters: of shorter secrets none is shown
_REMEMBERED = 4096  # texts: a journal holds each twice, and it is looked at more than once
_NAMES = frozenset(
    "id at actor host session tier label op version role tree group tied side commit".split()
)


class FileSecret(NamedTuple):
    """A secret of `type` in a line (from 1) of a file; `masked` can be shown."""

    line: int
    type: str
    masked: str


def find(text: str, form: Form) -> list[FileSecret]:
    """List the secrets of a file, each once a line."""
    found: list[FileSecret] = []
    if form == "text":
        found = _find_in_text(text, 1)
    elif form == "json":
        found = _find_in_json(text, 1)
    else:
        for number, line in enumerate(text.split("\n"), 1):
            found += _find_in_json(line, number)
    return list(dict.fromkeys(found))


def redact_file(text: str, form: Form) -> str:
    """Return a file with `[redacted:TYPE]` for every secret; lines without any keep their bytes."""
    if form == "text":
        return redact(text)
    if form == "json":
        return _redact_json(text)
    return "\n".join(_redact_json(line) for line in text.split("\n"))


def redact_record(record: dict[str, object]) -> dict[str, object]:
    """Return a record with `[redacted:TYPE]` for every secret in its texts, but not in its ids."""
    return {key: item if key in _NAMES else _redact_value(item) for key, item in record.items()}


def mask(secret: str) -> str:
    """Show a secret by its first characters and its length."""
    head = secret[:_SHOWN] if len(secret) >= _LONG else ""
    return f"{' '.join(head.split())}… ({len(secret):,} characters)"


@lru_cache(maxsize=_REMEMBERED)
def _scan(text: str) -> list[tuple[int, str, str]]:
    return [
        (text.count("\n", 0, each.start), each.type, mask(text[each.start : each.end]))
        for each in find_secrets(text)
    ]


@lru_cache(maxsize=_REMEMBERED)
def _redact_text(text: str) -> str:
    return redact(text) if _scan(text) else text


def _find_in_text(text: str, first: int) -> list[FileSecret]:
    return [FileSecret(first + line, kind, masked) for line, kind, masked in _scan(text)]


def list_texts(line: str) -> list[str]:
    """Return the texts in a JSON line, without its names; of what is no JSON the line itself."""
    try:
        return list(_iterate_texts(json.loads(line)))
    except (ValueError, RecursionError):
        return [line]


def _find_in_json(text: str, number: int) -> list[FileSecret]:
    try:
        texts = list(_iterate_texts(json.loads(text)))
    except (ValueError, RecursionError):
        return _find_in_text(text, number)
    return [FileSecret(number, kind, masked) for each in texts for _, kind, masked in _scan(each)]


def _redact_json(text: str) -> str:
    try:
        value = json.loads(text)
        clean = _redact_value(value)
    except (ValueError, RecursionError):
        return redact(text)
    if clean == value:
        return text
    end = text[len(text.rstrip()) :]
    return json.dumps(clean) + end


def _iterate_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _iterate_texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in _NAMES:
                yield from _iterate_texts(item)


def _redact_value(value: object) -> object:
    if isinstance(value, str):
        return _redact_text(value)
    if isinstance(value, list):
        return [_redact_value(item) for item in value]
    if isinstance(value, dict):
        return redact_record(value)
    return value
