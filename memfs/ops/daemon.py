"""Start and stop the service, and look at it."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from memfs import files
from memfs.core.errors import LockedError, StoreError
from memfs.ipc import service_client, service_status, spawn
from memfs.store import config, lock, store_paths
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.ipc.service_status import ServiceStatus
    from memfs.store.store_paths import Store

_T = TypeVar("_T")

_WAIT = 5.0  # seconds for it to come, or to go
_PAUSE = 0.02
_AGAIN = 0.1
_LONGEST_LOG = 1 << 20  # bytes


def load_status() -> ServiceStatus | None:
    """Return how the service is; None if none answers."""
    return service_status.load_status()


def start() -> tuple[ServiceStatus, bool]:
    """Start the service; return how it is, and whether it was not there before.

    Raises `StoreError` if it is turned off, there is no user store, or it does not come.
    """
    found = service_status.load_status()
    if found:
        return found, False
    user = _user()
    if config.load(Place(None, user)).get("service.mode") != "auto":
        raise StoreError(
            "the service is turned off", f"service.mode in {user.root}/{store_paths.CONFIG} says so"
        )
    found = _until(_begun) if spawn.start_service(wait=True) else None
    if found is None:
        raise StoreError("the service did not start", f"see {user.local}/{service_status.LOG}")
    return found, True


def _begun() -> ServiceStatus | None:
    """Return how the service is, and start it again: one that was ending had its lock still."""
    found = service_status.load_status()
    if found is None:
        time.sleep(_AGAIN)
        spawn.start_service(wait=True)
    return found


def stop() -> bool:
    """Stop the service, and what it is at; False if there was none. Raises `StoreError`."""
    user = _user()
    if not _told_to_stop() and _gone(user):
        return False
    if not _until(lambda: _leaves(user)):
        owner = files.read(f"{user.local}/{spawn.LOCK}") or "its process"
        raise StoreError("the service does not stop", f"end it yourself: {owner}")
    with suppress(OSError):  # of one that was killed
        os.remove(str(service_client.address()))
    return True


def log() -> tuple[str, str]:
    """Return (path, text) of what the service logged."""
    path = f"{_user().local}/{service_status.LOG}"
    return path, files.read(path, cap=_LONGEST_LOG) or ""


def _user() -> Store:
    user = store_paths.user_store()
    if user is None:
        raise StoreError("you have no store, which the service needs", "make one: memfs init")
    return user


def _leaves(user: Store) -> bool:
    """Tell whether the service is gone. One that was just started is told as soon as it listens."""
    return _gone(user) or (_told_to_stop() and _gone(user))


def _told_to_stop() -> bool:
    return service_client.ask("stop", [], wait=service_status.ASKED) is not None


def _gone(user: Store) -> bool:
    """Tell whether no process is the service of a user."""
    try:
        with lock.hold_lock(user, 0, spawn.LOCK):
            return True
    except LockedError:
        return False


def _until(found: Callable[[], _T]) -> _T:
    deadline = time.monotonic() + _WAIT
    while not (value := found()) and time.monotonic() < deadline:
        time.sleep(_PAUSE)
    return value
