"""Making the vectors of another model while those of the former one are searched.

One process at a time, in the background or in front of somebody. It goes in small steps, and holds
the lock of the index during each: what is said meanwhile is indexed between two of them. A run that
was killed is gone on with by the next.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from memfs import files
from memfs.core import label as labels
from memfs.core.errors import LockedError, MemfsError
from memfs.files import atomic
from memfs.memory import models
from memfs.search import indexer
from memfs.store import layout, lock, starting
from memfs.store.blocks import Place
from memfs.store.layout import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.search.modelfiles import ModelFiles

LOCK = "model.lock"
INDEX_LOCK = "index.lock"
LOG = "model.log"
_STEP = 500  # documents: a fifth of a second
_PAUSE = 0.06  # seconds between two steps: who waits for the lock looks every twentieth of one
_GLANCE = 0.2  # seconds: who only looks whether somebody is at it lets go at once
_PATIENCE = 60.0  # seconds for that lock
_AGAIN = 600.0  # seconds after a failure, until the background tries again


def run(
    place: Place,
    tick: Callable[[int], object] | None = None,
    rest: Callable[[], object] = lambda: None,
) -> bool:
    """Give all documents vectors of the model that is wanted, then let these be searched.

    Another model that is wanted meanwhile is gone on with. `rest` is called between two steps.
    False if there is nothing to make: no index, no model. Raises `LockedError` if another process
    is at it, `MemfsError` for a model that cannot be used.
    """
    with lock.hold(place.home, _GLANCE, LOCK):
        while True:
            wanted = models.wanted(place)
            if wanted.problem:
                raise wanted.problem
            if wanted.files is None or not files.is_folder(place.home.index):
                return False
            try:
                if not _step(place.home, wanted.files, tick):
                    return True
            except FileNotFoundError:  # somebody removes the index
                return False
            time.sleep(_PAUSE)
            rest()


def running(store: Store) -> bool:
    """Tell whether a process makes the vectors of another model."""
    try:
        with lock.hold(store, 0, LOCK):
            return False
    except LockedError:
        return True


def failure(store: Store) -> str:
    """Return why the last run in the background ended before its time, "" if it did not."""
    return (files.read(f"{store.local}/{LOG}", cap=2000) or "").strip()


def start(place: Place) -> bool:
    """Let a process of its own make them, which outlives this one; False if one does already.

    One that failed is not started again for ten minutes.
    """
    if running(place.home) or _failed_lately(place.home):
        return False
    tops = [store.root if store else "" for store in (place.project, place.user)]
    return starting.detached("memfs.memory.reembed", tops, place.home.local)


def behind(project: str, user: str) -> None:
    """Be the process in the background: of the lowest priority, and silent but for a log."""
    if hasattr(os, "nice"):
        os.nice(19)
    store = layout.find(os.path.dirname(project)) if project else None
    place = Place(store, Store(user, labels.USER) if user else None)
    log = f"{place.home.local}/{LOG}"
    try:
        run(place)
        files.remove(log)
    except LockedError:
        return
    except (MemfsError, OSError) as error:
        said = (
            error.message
            if isinstance(error, MemfsError)
            else f"{error.strerror}: {error.filename}"
        )
        with suppress(OSError):
            atomic.write(log, f"{said}\n", private=True, durable=False)


def _step(store: Store, model: ModelFiles, tick: Callable[[int], object] | None) -> bool:
    """Make some; tell whether there are more to make."""
    with lock.hold(store, _PATIENCE, INDEX_LOCK), indexer.opened(store.index) as writing:
        writing.embed(tick, model, _STEP)
        return writing.unembedded(model.name) > 0


def _failed_lately(store: Store) -> bool:
    found = files.status(f"{store.local}/{LOG}")
    return found is not None and time.time() - found.st_mtime < _AGAIN
