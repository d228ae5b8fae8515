"""The logs of hooks and models: a line for each failure, in the store, or the user's. Hot path."""

import os
import time

from memfs import files
from memfs.core.escaping import flatten_text
from memfs.files import atomic
from memfs.secrets import redact
from memfs.store import local_folder, store_paths

LARGEST = 256 << 10  # bytes; an older log is kept once
_LONGEST = 500  # characters of what went wrong


def log_error(folder: str, where: str, error: BaseException, name: str = "hook.log") -> None:
    """Log one line about `error`; never raises, and drops the line where it cannot be written.

    For a project's store that is not trusted, the line goes to the user's own store.
    """
    what = redact(" ".join(f"{type(error).__name__}: {error}".split()))[:_LONGEST]
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    text = f"{stamp} {flatten_text(redact(where))}: {what}\n"
    for find in (store_paths.find_trusted, lambda _: store_paths.user_store()):
        try:
            store = find(folder)
            if store is not None:
                local_folder.make(store)
                _append(f"{store.local}/{name}", text)
                return
        except Exception:  # noqa: BLE001, S112 - the store itself may be what is broken
            continue


def _append(path: str, text: str) -> None:
    handle, status = files.open_file(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        data = text.encode("utf-8", "replace")
        if os.write(handle, data) < len(data):
            os.ftruncate(handle, status.st_size)
            raise OSError("the log could not be written completely")
    finally:
        os.close(handle)
    if status.st_size > LARGEST:
        atomic.rename(path, path + ".1")
