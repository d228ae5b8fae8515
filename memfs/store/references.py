"""When a block was read last: one empty file for each, whose time says it. It may be lost."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memfs.store import clock, files, layout

if TYPE_CHECKING:
    from memfs.store.layout import Store

_FOLDER = "read"


def note(store: Store, tier: str, label: str) -> None:
    """Note that somebody reads a block now; where nothing can be written, nothing is."""
    with suppress(OSError):
        layout.make_local(store)
        files.make_folder(f"{store.local}/{_FOLDER}", private=True, durable=False)
        path = _path(store, tier, label)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        moment = datetime.fromisoformat(clock.now()).timestamp()
        os.utime(path, (moment, moment))


def last(store: Store, tier: str, label: str) -> str:
    """Return when a block was read last, as all times are written; "" if nobody knows."""
    try:
        moment = os.stat(_path(store, tier, label)).st_mtime
    except OSError:
        return ""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _path(store: Store, tier: str, label: str) -> str:
    return f"{store.local}/{_FOLDER}/{layout.file_name(f'{tier}:{label}')}"
