"""The jobs of the service: what changed is read, and what was read is finished behind that.

Two lanes, each with a process of its own: a graph of a million vectors takes minutes, and what is
said meanwhile is to be found within a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.service.job_queue import Job, JobQueue

if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.service.store_pool import LoadedStore


class WorkScheduler:
    """All jobs. `published` is called with the store whenever there is news."""

    def __init__(self, published: Callable[[LoadedStore], object]) -> None:
        self._published = published
        self._finishing = JobQueue(published, finish=True)
        self._reading = JobQueue(self._read)
        self._lanes = (self._reading, self._finishing)

    def add(self, held: LoadedStore, paths: set[str], *, everything: bool = False) -> None:
        """Let what changed in a store be read, then finished; what waits for it is joined."""
        self._reading.add(Job(held, set(paths), everything))

    def busy(self, held: LoadedStore) -> bool:
        """Tell whether something is being done for a store just now."""
        return any(lane.busy(held) for lane in self._lanes)

    def said(self) -> list[dict[str, object]]:
        """Return what is done, and what waits."""
        return [each for lane in self._lanes for each in lane.said()]

    def stop(self) -> None:
        """End the processes at once: what they were at is gone on with another time."""
        for lane in self._lanes:
            lane.stop()
        for lane in self._lanes:
            lane.join()

    def _read(self, held: LoadedStore) -> None:
        self._published(held)
        self._finishing.add(Job(held))
