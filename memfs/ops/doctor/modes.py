"""Modes: what is in the user and local tiers is for their owner alone."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memfs.store.layout import Store

_OTHERS = 0o077


def open_to_others(store: Store) -> list[str]:
    """List the private files and folders of a store whose modes let others in; no links.

    In the index folder, which is private itself, libraries write with modes of their own.
    """
    if os.name == "nt":
        return []
    found = []
    top = store.root if store.private else store.local
    for path in [top, *_below(top, store)]:
        try:
            status = os.lstat(path)
        except OSError:
            continue
        kind = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
        if kind and status.st_mode & _OTHERS:
            found.append(path)
    return found


def close(path: str) -> None:
    """Take the modes of others from a file or folder of ours."""
    os.chmod(path, stat.S_IMODE(os.lstat(path).st_mode) & ~_OTHERS)


def _below(top: str, store: Store) -> Iterator[str]:
    for folder, folders, names in os.walk(top):
        yield from (f"{folder}/{name}" for name in (*folders, *names))
        inner = (".git", os.path.basename(store.index) if folder == store.local else "")
        folders[:] = [name for name in folders if name not in inner]
