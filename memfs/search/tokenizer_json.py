"""What a model's `tokenizer.json` would have its library do, looked at before that is told.

It is a program of sorts: texts that grow without end, or a table that says it is larger than it is,
end the process, and nothing can be caught.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import msgspec

from memfs.files import outside

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_STEPS = 100
_MOST_GROWTH = 1000  # times: what all steps together may make of a character
_LARGEST = 256 << 20
_WORD = 4  # bytes


class _Told(msgspec.Struct):
    normalizer: object = None
    pre_tokenizer: object = None


def problem(path: str) -> str:
    """Return what is wrong with the steps of a tokenizer, "" for nothing. Raises `OSError`."""
    with outside.open_stream(path) as handle:
        data = handle.read(_LARGEST)
    try:
        told = msgspec.json.decode(data, type=_Told)
        steps = [*_steps(told.normalizer), *_steps(told.pre_tokenizer)]
    except (ValueError, RecursionError):
        return ""  # the library says what is wrong with it, and where
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


def _steps(told: object) -> Iterator[dict[str, object]]:
    """Yield every mapping below a value: a sequence holds others."""
    waiting = [told]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield each
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)


def _is_whole(charsmap: str) -> bool:
    """Tell whether a table of characters is as long as it says: its size is in its first bytes."""
    try:
        data = base64.b64decode(charsmap, validate=True)
    except ValueError:
        return False
    size = int.from_bytes(data[:_WORD], "little")
    return len(data) > _WORD and size <= len(data) - _WORD and size % _WORD == 0
