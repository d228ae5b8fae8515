"""The jobs of the service: changes are read into the index, then vectors and graphs are made.

Two queues, each with a process of its own: a graph of a million vectors takes minutes, and new
messages must be found within a second meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memfs.service.job_queue import WORKER, Job, JobQueue, WorkerSettings

if TYPE_CHECKING:
    from memfs.service.store_pool import LoadedStore


class WorkScheduler:
    """The two job queues. `published` is called with a store whose index changed."""

    def __init__(
        self, published: Callable[[LoadedStore], object], worker: WorkerSettings = WORKER
    ) -> None:
        self._published = published
        self._finishing = JobQueue(published, finish=True, worker=worker)
        self._reading = JobQueue(self._finish_later, worker=worker)
        self._queues = (self._reading, self._finishing)

    def start(self) -> None:
        """Begin to run what is queued, and will be."""
        for queue in self._queues:
            queue.start()

    def add(
        self,
        store: LoadedStore,
        paths: set[str],
        *,
        everything: bool = False,
        sources: bool = False,
    ) -> None:
        """Queue a read of the changes of a store (or of its data sources), then its slow part."""
        self._reading.add(Job(store, set(paths), everything, sources))

    def is_busy(self, store: LoadedStore) -> bool:
        """Return whether a job of a store is running."""
        return any(queue.is_busy(store) for queue in self._queues)

    def describe_jobs(self) -> list[dict[str, object]]:
        """Return the running and the waiting jobs of both queues."""
        return [each for queue in self._queues for each in queue.describe_jobs()]

    def stop(self) -> None:
        """Kill the processes. Their jobs continue where they were when queued again."""
        for queue in self._queues:
            queue.stop()
        for queue in self._queues:
            queue.wait_for_end()

    def _finish_later(self, store: LoadedStore) -> None:
        self._published(store)
        self._finishing.add(Job(store))
