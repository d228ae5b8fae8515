"""The recall files of a store with their signatures, of which most are read once in a while."""

import time

from memfs import files
from memfs.files import signatures
from memfs.files.signatures import Signature
from memfs.store import recall
from memfs.store.store_paths import Store

Signs = list[tuple[str, Signature | None]]

_AGAIN = 1.0  # seconds after which all signatures are read
_LATEST = 16  # files whose signatures are read each time
_SETTLED = 3.0  # seconds; two changes closer together may leave the same signature


class RecallSnapshot:
    """The recall files of a store with their signatures."""

    def __init__(self, store: Store, again: float = 0.0) -> None:
        """`again` is the number of seconds after which all signatures are read; 0: usual."""
        self._store, self._again = store, again or _AGAIN
        self._top = f"{store.local}/recall"
        self._folders: Signs = []
        self._files: Signs = []
        self._latest: Signs = []
        self._expiry = 0.0  # until this monotonic time

    def list_files(self) -> Signs:
        known = [*self._folders, *self._latest]
        if time.monotonic() >= self._expiry or _sign_paths([path for path, _ in known]) != known:
            self._refresh()
        return self._files

    def _refresh(self) -> None:
        self._expiry = time.monotonic() + self._again
        now = time.time_ns()
        inside = files.entries(self._top) if files.is_folder(self._top) else []
        hosts = [f"{self._top}/{name}" for name, is_folder in inside if is_folder]
        self._folders = _sign_paths([self._top, *hosts])
        self._files = _sign_paths(recall.sources(self._store))
        latest = sorted(self._files, key=lambda each: -each[1].modified if each[1] else 0)
        self._latest = latest[:_LATEST]
        if any(sign and now - sign.modified < _SETTLED * 1e9 for _, sign in self._folders):
            self._expiry = 0.0


def _sign_paths(paths: list[str]) -> Signs:
    return [(path, signatures.sign_file(path)) for path in paths]
