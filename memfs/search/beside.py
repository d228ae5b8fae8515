"""A second thread for work that lets go of the interpreter, as the vector graph does.

Only worth it where the first thread does something else meanwhile. What the second one has not
begun when its result is wanted is done by who wants it: on a busy machine nothing is lost, and
nobody waits for a thread that is not there (after a fork, at the end of the process).
"""

from __future__ import annotations

import threading
import weakref
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")


class Task(Generic[Result]):
    """Something to do once, by whoever comes to it first."""

    def __init__(self, call: Callable[[], Result]) -> None:
        self._call = call
        self._taken, self._done = threading.Lock(), threading.Lock()
        self._done.acquire()
        self._result: list[Result] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        """Do it, unless somebody has it in hand."""
        if self._taken.acquire(blocking=False):
            try:
                self._result.append(self._call())
            except BaseException as error:  # noqa: BLE001 - told to who wants the result
                self._error = error
            finally:
                self._done.release()

    def result(self) -> Result:
        """Return what came of it, as soon as it is done; raise what it raised."""
        self.run()
        with self._done:
            if self._error is not None:
                raise self._error
            return self._result[0]


class Beside:
    """One thread, from the first task on until this object is gone. Any thread may start tasks."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Task[object] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def start(self, call: Callable[[], Result]) -> Task[Result]:
        """Have something done in the other thread; see `Task.result`."""
        task = Task(call)
        if self._thread is None or not self._thread.is_alive():
            self._begin()
        self._tasks.put(task)  # type: ignore[arg-type]
        return task

    def _begin(self) -> None:
        tasks: SimpleQueue[Task[object] | None] = SimpleQueue()
        self._tasks, name = tasks, "memfs beside"
        self._thread = threading.Thread(target=_work, args=(tasks,), name=name, daemon=True)
        weakref.finalize(self, tasks.put, None)
        with suppress(RuntimeError):  # no more threads: who wants the result does it
            self._thread.start()


def _work(tasks: SimpleQueue[Task[object] | None]) -> None:
    while (task := tasks.get()) is not None:
        task.run()
        del task  # it may be all that holds what this thread ends with
