"""Queues of jobs, the worker process that runs them one at a time, and the service's log."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memfs.recall.open_store import OpenStore
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memfs.recall.open_store import OpenStore
import os
import traceback

from memfs import files

_SIZE = 256 << 10  # bytes, above which the log is emptied
_STDERR = 2


# Why a job stopped early and is queued again: another process has the lock, or shorter jobs wait.
BUSY, LATER = "busy", "later"
_TRIES = 3  # of a job during which the process ended
_ATTEMPTS = 7  # of a job that failed: about an hour, with growing pauses
CODE = """
import os, sys
if hasattr(os, "nice"):
    os.nice(10)
sys.path[:] = sys.argv[2:]
from importlib import import_module
import_module(sys.argv[1]).main()
"""


@dataclass(frozen=True)
class WorkerSettings:
    """How a queue runs its jobs: by the `main` of a module, in a process of its own.

    `idle`: seconds that the process stays alive without a job; `retry`: seconds before a job that
    found a lock, or failed once, is retried.
    """

    module: str = "memfs.service.worker"
    idle: float = 20.0
    retry: float = 1.0


WORKER = WorkerSettings()


@dataclass
class Job:
    """Work on one store.

    `paths`: changed transcripts, and folders that may contain some; `all`: other files of the
    store changed, too; `sources`: files of its data sources did.
    """

    held: OpenStore
    paths: set[str] = field(default_factory=set)
    all: bool = False
    sources: bool = False
    not_before: float = 0.0
    failed: int = 0  # times that it failed, or the process ended during it

    def merge(self, other: Job) -> None:
        """Add another job of this store to this one, at the earlier time of both."""
        self.paths |= other.paths
        self.all |= other.all
        self.sources |= other.sources
        self.not_before = min(self.not_before, other.not_before)


class JobQueue:
    """Runs one job at a time. `published` is called with a store whose index changed.

    `finish`: jobs do the slow part (vectors, graphs); else they read changes (see `worker`).
    """

    def __init__(
        self,
        published: Callable[[OpenStore], object],
        *,
        finish: bool = False,
        worker: WorkerSettings = WORKER,
    ) -> None:
        self._published = published
        self._finish, self._worker = finish, worker
        self._jobs: deque[Job] = deque()
        self._now: Job | None = None
        self._progress: dict[str, object] = {}
        self._process: subprocess.Popen[str] | None = None
        self._ended = False
        self._changed = threading.Condition()
        name = "finish" if finish else "read"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin to run what is queued, and will be."""
        self._thread.start()

    def add(self, job: Job) -> None:
        """Queue a job, merged with one that waits for the same store.

        A running job of another store is asked to yield; a read yields to its own store, too.
        """
        with self._changed:
            waiting = self._find_waiting(job.held)
            if waiting is None:
                self._jobs.append(job)
            else:
                waiting.merge(job)
            self._changed.notify()
            if self._now and not (self._finish and self._now.held is job.held):
                self._signal_waiting()

    def is_busy(self, store: OpenStore) -> bool:
        """Return whether a job of a store is running."""
        now = self._now
        return now is not None and now.held is store

    def describe_jobs(self) -> list[dict[str, object]]:
        """Return the running job with its progress, then the waiting ones, with their failures."""
        with self._changed:
            now, waiting = self._now, list(self._jobs)
        progress = self._progress or {"stage": "looking"}
        found = [{"store": now.held.place.home.root, **progress}] if now else []
        for job in waiting:
            failed = {"failed": job.failed} if job.failed else {}
            found.append({"store": job.held.place.home.root, "stage": "waiting", **failed})
        return found

    def stop(self) -> None:
        """Kill the process. Its job continues where it was when it is queued again."""
        with self._changed:
            self._ended = True
            self._jobs.clear()
            if self._process is not None:
                self._process.kill()
            self._changed.notify()

    def wait_for_end(self) -> None:
        """Wait a moment for the thread to end, after `stop`."""
        if self._thread.is_alive():
            self._thread.join(1)

    def _run(self) -> None:
        while True:
            job = self._wait_for_job()
            if job is None:
                self._end_process()
                return
            try:
                retry = self._run_job(job)
            except Exception as error:  # noqa: BLE001 - no room for a process, or it was killed
                job.failed += 1
                retry = job.failed < _TRIES
                self._end_process()
                if not self._ended:
                    write_line(f"a job failed ({error!r}): {job.held.place.home.root}")
            with self._changed:
                self._now, self._progress = None, {}
                if retry and not self._ended:
                    self._requeue(job)

    def _requeue(self, job: Job) -> None:
        """Queue a job again, behind those that wait. The caller has the lock."""
        waiting = self._find_waiting(job.held)
        if waiting is None:
            job.not_before = time.monotonic() + self._worker.retry * 4**job.failed
            self._jobs.append(job)
        else:
            waiting.merge(job)
            self._jobs.remove(waiting)
            self._jobs.append(waiting)

    def _find_waiting(self, store: OpenStore) -> Job | None:
        return next((job for job in self._jobs if job.held is store), None)

    def _wait_for_job(self) -> Job | None:
        """Wait for the next job; end the process after some time without one."""
        with self._changed:
            while True:
                if self._ended:
                    return None
                now = time.monotonic()
                ready = next((each for each in self._jobs if each.not_before <= now), None)
                if ready:
                    self._jobs.remove(ready)
                    self._now = ready
                    return ready
                pause = min((each.not_before - now for each in self._jobs), default=math.inf)
                idle = self._worker.idle
                most = pause if self._process is None else min(pause, idle)
                if not self._changed.wait(None if most == math.inf else most) and pause > idle:
                    self._end_process()

    def _run_job(self, job: Job) -> bool:
        """Run one job in the process; return whether to retry it. Raises `OSError`."""
        place = job.held.place
        request = {
            "project": place.project.root if place.project else "",
            "user": place.user.root if place.user else "",
            "paths": sorted(job.paths),
            "all": job.all,
            "sources": job.sources,
            "finish": self._finish,
        }
        process = self._ensure_process()
        if process.stdin is None or process.stdout is None:
            return False
        with self._changed:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        for line in process.stdout:
            message = json.loads(line)
            if "stage" in message:
                self._progress = message
            if message.get("published"):
                self._published(job.held)
            if message.get("end"):
                if message["wrong"] not in ("", BUSY, LATER):  # a full disk, say
                    job.failed += 1
                    write_line(f"{place.home.root}: {message['wrong']}")
                    return job.failed < _ATTEMPTS
                return bool(message["wrong"])
        raise OSError("the worker ended")

    def _ensure_process(self) -> subprocess.Popen[str]:
        with self._changed:
            if self._ended:
                raise OSError("the service leaves")
            if self._process is None or self._process.poll() is not None:
                self._end_process()
                self._process = subprocess.Popen(  # noqa: S603 - this Python, our code
                    [sys.executable, "-I", "-S", "-c", CODE, self._worker.module, *sys.path],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    encoding="utf-8",
                )
            return self._process

    def _signal_waiting(self) -> None:
        """Ask the running job to yield to one that waits. The caller has the lock."""
        if self._process and self._process.stdin:
            with suppress(OSError, ValueError):  # it has just ended
                self._process.stdin.write("\n")
                self._process.stdin.flush()

    def _end_process(self) -> None:
        """End the process. Only the queue's own thread, which reads its output, calls this."""
        with self._changed:
            process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):  # from flushing unwritten data
                    pipe.close()
        process.wait()


class WorkScheduler:
    """The two job queues. `published` is called with a store whose index changed."""

    def __init__(
        self, published: Callable[[OpenStore], object], worker: WorkerSettings = WORKER
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
        self, store: OpenStore, paths: set[str], *, everything: bool = False, sources: bool = False
    ) -> None:
        """Queue a read of the changes of a store (or of its data sources), then its slow part."""
        self._reading.add(Job(store, set(paths), everything, sources))

    def is_busy(self, store: OpenStore) -> bool:
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

    def _finish_later(self, store: OpenStore) -> None:
        self._published(store)
        self._finishing.add(Job(store))


def redirect_output(path: str) -> None:
    """Append standard error to a file from now on. Does nothing if it cannot be opened."""
    with suppress(OSError):
        log, _ = files.open_file(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, _STDERR)
        os.close(log)


def write_line(text: str) -> None:
    """Write text with a time stamp. Errors are ignored."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with suppress(OSError, ValueError):
        if os.fstat(_STDERR).st_size > _SIZE:
            os.ftruncate(_STDERR, 0)
        os.write(_STDERR, f"{stamp} {text.rstrip()}\n".encode("utf-8", "replace"))


def failure() -> None:
    """Write the current exception with its traceback."""
    write_line(traceback.format_exc())
