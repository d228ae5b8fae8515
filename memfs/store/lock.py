"""The lock of a store: one writer at a time, released by the system when its owner dies."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from memfs.core.errors import LockedError
from memfs.store import layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memfs.store.layout import Store

WAIT = 10.0  # seconds

if sys.platform == "win32":  # pragma: no cover - the other branch is covered on Linux and macOS
    import msvcrt

    def _take(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextmanager
def hold(store: Store, wait: float = WAIT, name: str = "lock") -> Iterator[None]:
    """Hold a lock of a store, waiting at most `wait` seconds; raises `LockedError` after them.

    The file stays: removing it would let two owners in. It names its owner, for the error message
    of whoever waits in vain.
    """
    layout.make_local(store)
    path = f"{store.local}/{name}"
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        deadline = time.monotonic() + wait
        pause = 0.001
        while not _take(handle):
            if time.monotonic() >= deadline:
                owner = os.pread(handle, 40, 0).decode("ascii", "replace") or "another process"
                raise LockedError(
                    f"the store is locked by {owner} (waited {wait:g} s)",
                    f"if that process hangs, stop it; the lock is {path}",
                )
            time.sleep(pause)
            pause = min(pause * 2, 0.05)
        with suppress(OSError):  # a full disk: the lock holds without a name
            os.ftruncate(handle, 0)
            os.write(handle, f"process {os.getpid()}".encode())
        yield
    finally:
        os.close(handle)
