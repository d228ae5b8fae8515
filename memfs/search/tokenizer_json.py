"""Checks a model's `tokenizer.json` before its library loads it.

Such a file works like a program: texts that grow without end, or a table that declares more than
its size, end the process, and no exception can be caught.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator

import msgspec

from memfs.files import outside

_MOST_STEPS = 100
_MOST_GROWTH = 1000  # the most characters that all steps may make of one
_LARGEST = 256 << 20
_WORD = 4  # bytes


class _Told(msgspec.Struct):
    normalizer: object = None
    pre_tokenizer: object = None


def problem(path: str) -> str:
    """Return the problem with a tokenizer's steps, "" for none. Raises `OSError`."""
    with outside.open_stream(path) as handle:
        data = handle.read(_LARGEST)
    try:
        pipeline = msgspec.json.decode(data, type=_Told)
        steps = [*_iterate_steps(pipeline.normalizer), *_iterate_steps(pipeline.pre_tokenizer)]
    except (ValueError, RecursionError):
        return ""  # the library reports what is wrong, and where
    if len(steps) > _MOST_STEPS:
        return f"it takes {len(steps):,} steps, more than {_MOST_STEPS}"
    growth = 1
    for step in steps:
        content = step.get("content")
        if isinstance(content, str):
            growth *= max(1, len(content))
        charsmap = step.get("precompiled_charsmap")
        if isinstance(charsmap, str) and not _is_whole(charsmap):
            return "its table of characters is not whole"
    return "texts would grow without end" if growth > _MOST_GROWTH else ""


def _iterate_steps(value: object) -> Iterator[dict[str, object]]:
    """Yield all mappings inside a value, also nested ones."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield each
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)


def _is_whole(charsmap: str) -> bool:
    """Tell whether a table of characters has the size that its first bytes declare."""
    try:
        data = base64.b64decode(charsmap, validate=True)
    except ValueError:
        return False
    size = int.from_bytes(data[:_WORD], "little")
    return len(data) > _WORD and size <= len(data) - _WORD and size % _WORD == 0
