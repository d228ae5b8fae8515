"""Making the vectors of another model while those of the former one are searched.

One process at a time: the service, or one in front of somebody. It goes in small steps, and holds
the lock of the index during each: what is said meanwhile is indexed between two of them. A run that
was killed is gone on with by the next.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from memfs import files
from memfs.recall import model_config
from memfs.search import indexer
from memfs.store import lock

if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.search.model_files import ModelFiles
    from memfs.store.blocks import Place
    from memfs.store.store_paths import Store

LOCK = "model.lock"
INDEX_LOCK = "index.lock"
_STEP = 500  # documents: a fifth of a second
_PAUSE = 0.06  # seconds between two steps: who waits for the lock looks every twentieth of one
_GLANCE = 0.2  # seconds: who only looks whether somebody is at it lets go at once
_PATIENCE = 60.0  # seconds for that lock


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
    with lock.hold_lock(place.home, _GLANCE, LOCK):
        while True:
            wanted = model_config.load_wanted(place)
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


def _step(store: Store, model: ModelFiles, tick: Callable[[int], object] | None) -> bool:
    """Make some; tell whether there are more to make."""
    with lock.hold_lock(store, _PATIENCE, INDEX_LOCK), indexer.open_writer(store.index) as writing:
        writing.embed(tick, model, _STEP)
        return writing.unembedded(model.name) > 0
