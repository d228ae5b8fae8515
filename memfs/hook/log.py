"""The hook's log: one line for each failure, in the store, else in the user tier, else stderr."""

import os
import sys
import time

from memfs.store import layout

LARGEST = 256 << 10  # bytes; an older log is kept once


def line(place: str, where: str, error: BaseException) -> None:
    """Write one line about `error`; never raises."""
    what = " ".join(f"{type(error).__name__}: {error}".split())[:500]
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    text = f"{stamp} {where}: {what}\n"
    for folder in _folders(place):
        try:
            _append(f"{folder}/hook.log", text)
        except OSError:
            continue
        return
    try:
        os.write(2, text.encode("utf-8", "replace"))
    except OSError:
        sys.exit(0)


def _append(path: str, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        size = os.fstat(handle).st_size
        data = text.encode("utf-8", "replace")
        if os.write(handle, data) < len(data):
            os.ftruncate(handle, size)
            raise OSError("the log could not be written whole")
    finally:
        os.close(handle)
    if size > LARGEST:
        os.replace(path, path + ".1")


def _folders(place: str) -> list[str]:
    """Return where a log can be: the store itself may be what is broken."""
    found = []
    for where in (place, None):
        try:
            store = layout.user_store() if where is None else layout.find(where)
            if store is not None:
                layout.make_local(store)
                found.append(store.local)
        except Exception:  # noqa: BLE001, S112
            continue
    return found
