"""Secrets in files of text, JSON, or JSON lines: where they are, and the same without them. Pure.

In JSON the decoded strings are searched; names (ids, times, labels) are left alone.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
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
    for number, part in enumerate(text.split("\n") if form == "lines" else [text], 1):
        texts = [part] if form == "text" else list_texts(part)
        for each in texts:
            is_plain = each is part
            found += [FileSecret(number + line * is_plain, *what) for line, *what in _scan(each)]
    return list(dict.fromkeys(found))


def list_texts(text: str) -> list[str]:
    """Return the texts in JSON, without its names; of what is no JSON all of it."""
    try:
        return list(_iterate_texts(json.loads(text)))
    except (ValueError, RecursionError):
        return [text]


def redact_file(text: str, form: Form) -> str:
    """Return a file with `[redacted:TYPE]` for every secret; lines without any keep their bytes."""
    if form == "lines":
        return "\n".join(redact_file(line, "json") for line in text.split("\n"))
    if form == "json":
        with suppress(ValueError, RecursionError):
            value = json.loads(text)
            clean = _redact_value(value)
            return text if clean == value else json.dumps(clean) + text[len(text.rstrip()) :]
    return redact(text)


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
