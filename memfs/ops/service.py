"""Start and stop the service, and read its status and log."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from memfs import files
from memfs.core.errors import LockedError, StoreError
from memfs.ipc import client, service_status
from memfs.ipc.service_status import ServiceStatus
from memfs.store import config, lock, store_paths
from memfs.store.blocks import Place, find_off_switch
from memfs.store.store_paths import Store

_T = TypeVar("_T")

_WAIT = 5.0  # seconds for it to start, or to stop
_PAUSE = 0.02
_AGAIN = 0.1
_LONGEST_LOG = 1 << 20  # bytes


load_status = service_status.load_status


def start() -> tuple[ServiceStatus, bool]:
    """Start the service; return its status, and whether this call started it.

    Raises `StoreError` if it is turned off, there is no user store, or it does not start.
    """
    found = service_status.load_status()
    if found:
        return found, False
    user = _require_user_store()
    off = find_off_switch(Place(None, user))
    if off:
        raise StoreError("memory is turned off", f"change {off} to turn memory on")
    if config.load(Place(None, user)).get("service.mode") != "auto":
        raise StoreError(
            "the service is turned off",
            f"set 'service.mode' to 'auto' in {user.root}/{store_paths.CONFIG}",
        )
    found = _poll_until(_retry_start) if client.start_service(wait=True) else None
    if found is None:
        raise StoreError(
            "the service did not start", f"see its log: {user.local}/{service_status.LOG}"
        )
    return found, True


def _retry_start() -> ServiceStatus | None:
    """Return the status, else start the service again: one that was stopping still had the lock."""
    found = service_status.load_status()
    if found is None:
        time.sleep(_AGAIN)
        client.start_service(wait=True)
    return found


def stop() -> bool:
    """Stop the service and its jobs; False if none was running. Raises `StoreError`."""
    user = _require_user_store()
    if not _send_stop() and _is_lock_free(user):
        return False
    # One that is starting may hear only later that it is to stop.
    if not _poll_until(lambda: _is_lock_free(user) or (_send_stop() and _is_lock_free(user))):
        owner = files.read(f"{user.local}/{client.LOCK}") or "the service process"
        raise StoreError("the service did not stop", f"end {owner} yourself")
    with suppress(OSError):  # a killed service leaves its socket
        os.remove(client.address())
    return True


def log() -> tuple[str, str]:
    """Return (path, text) of the log of the service."""
    path = f"{_require_user_store().local}/{service_status.LOG}"
    return path, files.read(path, cap=_LONGEST_LOG) or ""


def _require_user_store() -> Store:
    user = store_paths.user_store()
    if user is None:
        raise StoreError("the service needs a store of your own", "create a store: memfs init")
    return user


def _send_stop() -> bool:
    return client.ask("stop", [], wait=client.ASKED) is not None


def _is_lock_free(user: Store) -> bool:
    try:
        with lock.hold_lock(user, 0, client.LOCK):
            return True
    except LockedError:
        return False


def _poll_until(check: Callable[[], _T]) -> _T:
    deadline = time.monotonic() + _WAIT
    while not (value := check()) and time.monotonic() < deadline:
        time.sleep(_PAUSE)
    return value
