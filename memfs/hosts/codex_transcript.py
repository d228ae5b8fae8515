"""Codex's transcripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.core.records import Identity, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable


def identify(_lines: Iterable[bytes], _path: str) -> Identity | None:
    """Tell whose session this is, from its first lines; None: not Codex's."""
    return None


def read(data: bytes, _identity: Identity, *, start: int) -> Transcript:
    """Read the messages of whole lines."""
    return Transcript([], start + len(data), 0, 0)


def found(_home: str, _project: str) -> Iterable[str]:
    """List the transcripts kept for a project and the folders below it, oldest first."""
    return []
