"""A worker whose slow part is never done, and looks again and again whether others wait."""

import time
from collections.abc import Callable

from memfs.service import worker
from memfs.store.blocks import Place


def main() -> None:
    worker.finish_store = finish_store
    worker.main()


def finish_store(place: Place, wait: Callable[[], object]) -> None:
    report = worker._report_progress("resting", 0)
    while True:
        wait()
        report(1)
        time.sleep(0.01)
