"""Up to where a transcript was read, and what that part of it looked like.

Not durable: a lost or outdated state costs a second reading.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import BinaryIO

from memfs import files
from memfs.core.errors import UNREADABLE
from memfs.files import atomic, outside

_LARGEST = 1 << 62  # of an offset
_SAMPLE = 4096  # bytes at the beginning and the end of what was read, to notice a rewritten file


@dataclass
class ReadState:
    """How far a transcript was read: `offset` bytes, which looked like `print`.

    `path` is where it was. `kept` is the size of our own file then: what is behind it may be
    torn. `versions` are (size, print) of transcripts that a rewritten one has replaced.
    """

    path: str = ""
    offset: int = 0
    print: str = ""
    kept: int = 0
    malformed: int = 0
    versions: list[tuple[int, str]] = field(default_factory=list)


def fingerprint(path: str, offset: int) -> str:
    """Return a hash of the first and the last 4 kB of the first `offset` bytes of a file.

    Whether a file only grew is told by this alone, whatever its size: an end holds times and ids
    of its own, so another text of the same length does not have it. What this cannot notice is a
    change of bytes between the two parts that keeps every byte behind it in its place. The inode
    says nothing: a copy, a sync or an editor changes it, and a new file may have it again.
    """
    with outside.open_stream(path) as handle:
        return fingerprint_of(handle, offset)


def fingerprint_of(handle: BinaryIO, offset: int) -> str:
    """Return the fingerprint of an open file."""
    handle.seek(0)
    head = handle.read(min(offset, _SAMPLE))
    handle.seek(max(0, offset - _SAMPLE))
    tail = handle.read(min(offset, _SAMPLE))
    return hashlib.sha256(head + b"|" + tail).hexdigest()[:32]


def load(path: str) -> ReadState | None:
    """Load the saved state; None if there is none, or it is damaged."""
    try:
        found = json.loads(files.read(path) or "")
        found["versions"] = [(int(size), str(mark)) for size, mark in found["versions"]]
        state = ReadState(**found)
    except UNREADABLE:
        return None
    counts = (state.offset, state.kept, state.malformed)
    plain = all(type(count) is int and 0 <= count < _LARGEST for count in counts)
    texts = isinstance(state.path, str) and isinstance(state.print, str)
    return state if plain and texts else None


def save(path: str, state: ReadState) -> None:
    """Save the state; after a crash of the system an older one may be there."""
    atomic.write(path, json.dumps(vars(state)), private=True, durable=False, locked=True)
