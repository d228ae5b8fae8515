"""Check that the folders of a store can be written and locked, and that their disks have room."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain, islice

from memfs import files
from memfs.core import label as labels
from memfs.core import os_errors
from memfs.files import trees
from memfs.ops.doctor.finding import Finding
from memfs.store import lock
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

LITTLE = 64 << 20  # bytes; an index and its next version take tens of MB
_MB = 1_000_000


def check_disks(place: Place, least: int = LITTLE) -> Iterator[Finding]:
    """Check the stores of a place; a disk is to have `least` bytes of room."""
    seen = set()
    for tier, store in place.list_tiers():
        if tier == labels.SESSION:
            continue
        folders = _list_folders(store)
        refused = list(islice(chain.from_iterable(map(_check_rights, folders)), 1))
        yield from refused or _check_lock(store)
        for folder in folders:
            device = _get_device(folder)
            if device not in seen:
                seen.add(device)
                yield from _check_room(folder, least)


def _get_device(folder: str) -> int:
    found = files.status(folder)
    return found.st_dev if found else 0


def _list_folders(store: Store) -> list[str]:
    """List the folders of a store that memfs writes into."""
    return [path for path in (store.root, store.local, store.index) if files.is_folder(path)]


def _check_rights(folder: str) -> Iterator[Finding]:
    effective = os.access in os.supports_effective_ids
    if os.access(folder, os.R_OK | os.W_OK | os.X_OK, effective_ids=effective):
        return
    if hasattr(os, "statvfs") and os.statvfs(folder).f_flag & os.ST_RDONLY:
        yield Finding(
            "error", f"{folder} cannot be written: its disk is read-only", "mount it for writing"
        )
    else:
        yield Finding(
            "error",
            f"{folder} cannot be written by you",
            f"see its owner and rights: ls -ld {folder}",
        )


def _check_lock(store: Store) -> Iterator[Finding]:
    if not files.is_file(f"{store.local}/{lock.NAME}"):
        return
    try:
        lock.check_lock(store)
    except OSError as error:
        told = os_errors.describe_refusal(error)
        yield Finding("error", told.message, told.hint)


def _check_room(folder: str, least: int) -> Iterator[Finding]:
    room = trees.get_room(folder)
    if room < least:
        yield Finding(
            "warning" if room else "error",
            f"the disk of {folder} has {room / _MB:,.1f} MB left",
            "make room on it: what cannot be written is refused, and nothing is half-written",
        )
