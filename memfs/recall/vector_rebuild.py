"""Makes the vectors of a new model while those of the former one are searched.

One process at a time: the service, or a command. It goes in small steps, and holds the index lock
during each: new messages are indexed between two of them. The next run continues a killed one.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from memfs import files
from memfs.recall import model_config
from memfs.search import indexer
from memfs.search.model_files import ModelFiles
from memfs.store import lock
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

LOCK = "model.lock"
INDEX_LOCK = "index.lock"
_STEP = 500  # documents: a fifth of a second
_PAUSE = 0.06  # seconds between two steps: waiters try the lock every 0.05 s
_GLANCE = 0.2  # seconds: a process that only probes the lock releases it at once
_PATIENCE = 60.0  # seconds for that lock


def run(
    place: Place,
    tick: Callable[[int], object] | None = None,
    rest: Callable[[], object] = lambda: None,
) -> bool:
    """Make the configured model's vectors for all documents, then search by these.

    If the configuration changes meanwhile, it goes on with the new model. `rest` is called between
    two steps. False if there is nothing to make: no index, no model. Raises `LockedError` if
    another process does it, `MemfsError` for a model that cannot be used.
    """
    with lock.hold_lock(place.home, _GLANCE, LOCK):
        while True:
            model = model_config.load_wanted_model(place)
            if model.problem:
                raise model.problem
            if model.files is None or not files.is_folder(place.home.index):
                return False
            try:
                if not _step(place.home, model.files, tick):
                    return True
            except FileNotFoundError:  # another process removes the index
                return False
            time.sleep(_PAUSE)
            rest()


def _step(store: Store, model: ModelFiles, tick: Callable[[int], object] | None) -> bool:
    """Make the vectors of one step; tell whether more are missing."""
    with lock.hold_lock(store, _PATIENCE, INDEX_LOCK), indexer.open_writer(store.index) as writer:
        writer.embed(tick, model, _STEP)
        return writer.count_missing_vectors(model.name) > 0
