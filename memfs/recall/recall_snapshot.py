"""What the recall files look like, for a process that asks often: not each of thousands every time.

A file that comes, goes or is replaced changes its folder, and so does memfs itself whatever it
writes there, since it notes how far it read. What goes on is among the latest, and they are looked
at each time. What is left, an old session's file that something else writes to in its place, is
noticed when all are looked at again: after a second.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from memfs import files
from memfs.files import signatures
from memfs.store import recall

if TYPE_CHECKING:
    from memfs.files.signatures import Signature
    from memfs.store.store_paths import Store

    Signs = list[tuple[str, Signature | None]]

_LATEST = 16  # files that are looked at each time
_AGAIN = 1.0  # seconds after which all files are looked at
_SETTLED = 3.0  # seconds; in two changes that are no farther apart a folder may look the same


class RecallSnapshot:
    """The recall files of a store, and how each of them looks."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._top = f"{store.local}/recall"
        self._folders: Signs = []
        self._files: Signs = []
        self._latest: Signs = []
        self._trusted = 0.0  # up to when, on the clock that never goes back

    def look(self) -> Signs:
        """Return all files, sorted, with what they look like."""
        known = (self._folders, self._latest)
        if time.monotonic() >= self._trusted or any(_signs(each) != each for each in known):
            self._look()
        return self._files

    def _look(self) -> None:
        self._trusted = time.monotonic() + _AGAIN
        now = time.time_ns()
        self._folders = _signed([self._top])
        self._folders += _signed([f"{self._top}/{name}" for name in _hosts(self._top)])
        self._files = _signed(recall.sources(self._store))
        latest = sorted(self._files, key=lambda each: -each[1].modified if each[1] else 0)
        self._latest = latest[:_LATEST]
        if any(sign and now - sign.modified < _SETTLED * 1e9 for _, sign in self._folders):
            self._trusted = 0.0


def _hosts(top: str) -> list[str]:
    """List the folders of recall: one for each host."""
    if not files.is_folder(top):
        return []
    return [name for name, is_folder in files.entries(top) if is_folder]


def _signs(known: Signs) -> Signs:
    return _signed([path for path, _ in known])


def _signed(paths: list[str]) -> Signs:
    return [(path, signatures.sign_file(path)) for path in paths]
