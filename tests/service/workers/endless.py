"""A worker that never ends with what takes long."""

import time
from collections.abc import Callable

from memfs.service import worker
from memfs.store.blocks import Place


def main() -> None:
    worker.finish_store = finish_store
    worker.main()


def finish_store(place: Place, wait: Callable[[], object]) -> None:
    time.sleep(600)
