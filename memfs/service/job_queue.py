"""The queue of jobs, the worker process that runs them one at a time, and the service's log."""

from __future__ import annotations

import json
import math
import os
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memfs import files
from memfs.files import child_process

if TYPE_CHECKING:
    from subprocess import Popen

    from memfs.recall.open_store import OpenStore

NICE = 10  # added to the niceness of processes that do heavy work
_SIZE = 256 << 10  # bytes, above which the log is emptied
_STDERR = 2
# Why a job stopped early and is queued again: another process has the lock, or other jobs wait.
BUSY, LATER = "busy", "later"
_TRIES = 3  # of a job during which the process ended
_ATTEMPTS = 7  # of a job that failed: about an hour, with growing pauses


@dataclass(frozen=True)
class WorkerSettings:
    """How jobs are run: by the `main` of a module, in a process of its own.

    `idle`: seconds that the process stays alive without a job; `retry`: seconds before a job that
    found a lock, or failed once, is retried.
    """

    module: str = "memfs.service.worker"
    idle: float = 20.0
    retry: float = 1.0


WORKER = WorkerSettings()


@dataclass
class Job:
    """Work on one store: to read its changes, or to `finish` what takes long (see `worker`).

    `paths`: changed transcripts, and folders that may contain some; `all`: other files of the
    store changed, too; `sources`: files of its data sources did.
    """

    store: OpenStore
    paths: set[str] = field(default_factory=set)
    all: bool = False
    sources: bool = False
    finish: bool = False
    not_before: float = 0.0
    failed: int = 0  # times that it failed, or the process ended during it

    def merge(self, other: Job) -> None:
        self.paths |= other.paths
        self.all |= other.all
        self.sources |= other.sources
        self.not_before = min(self.not_before, other.not_before)

    def yields_to(self, other: Job) -> bool:
        """Tell whether this running job stops for another: what reads, or another store's."""
        return not other.finish or (self.finish and self.store is not other.store)


class JobQueue:
    """Runs one job at a time: what is to be read first, then what takes long.

    `published` is called with a store whose index changed.
    """

    def __init__(
        self, published: Callable[[OpenStore], object], worker: WorkerSettings = WORKER
    ) -> None:
        self._published, self._worker = published, worker
        self._jobs: list[Job] = []
        self._now: Job | None = None
        self._progress: dict[str, object] = {}
        self._process: Popen[bytes] | None = None
        self._ended = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="jobs", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def add(
        self, store: OpenStore, paths: set[str], *, everything: bool = False, sources: bool = False
    ) -> None:
        """Queue a read of the changes of a store (or of its data sources), then its slow part."""
        self._add(Job(store, set(paths), everything, sources))

    def is_busy(self, store: OpenStore) -> bool:
        now = self._now
        return now is not None and now.store is store

    def describe_jobs(self) -> list[dict[str, object]]:
        with self._changed:
            now, waiting = self._now, list(self._jobs)
        progress = self._progress or {"stage": "looking"}
        found = [{"store": now.store.place.home.root, **progress}] if now else []
        for job in waiting:
            failed = {"failed": job.failed} if job.failed else {}
            found.append({"store": job.store.place.home.root, "stage": "waiting", **failed})
        return found

    def stop(self) -> None:
        """Kill the process. Its job continues where it was when it is queued again."""
        with self._changed:
            self._ended = True
            self._jobs.clear()
            if self._process is not None:
                self._process.kill()
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(1)

    def _add(self, job: Job) -> None:
        """Queue a job, merged with one that waits for the same; ask the running one to yield."""
        with self._changed:
            waiting = self._find_waiting(job)
            if waiting is None:
                self._jobs.append(job)
            else:
                waiting.merge(job)
            self._changed.notify()
            if self._now and self._now.yields_to(job):
                self._signal_waiting()

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
                    write_line(f"a job for {job.store.place.home.root} failed: {error!r}")
            with self._changed:
                self._now, self._progress = None, {}
                if retry and not self._ended:
                    self._requeue(job)

    def _requeue(self, job: Job) -> None:
        """Queue a job again, behind those that wait. The caller has the lock."""
        waiting = self._find_waiting(job)
        if waiting is None:
            job.not_before = time.monotonic() + self._worker.retry * 4**job.failed
            self._jobs.append(job)
        else:
            waiting.merge(job)
            self._jobs.remove(waiting)
            self._jobs.append(waiting)

    def _find_waiting(self, job: Job) -> Job | None:
        same = (job.store, job.finish)
        return next((each for each in self._jobs if (each.store, each.finish) == same), None)

    def _wait_for_job(self) -> Job | None:
        with self._changed:
            while True:
                if self._ended:
                    return None
                now = time.monotonic()
                ready = [each for each in self._jobs if each.not_before <= now]
                if ready:
                    self._now = min(ready, key=lambda each: each.finish)  # the first of its kind
                    self._jobs.remove(self._now)
                    return self._now
                pause = min((each.not_before - now for each in self._jobs), default=math.inf)
                idle = self._worker.idle
                most = pause if self._process is None else min(pause, idle)
                if not self._changed.wait(None if most == math.inf else most) and pause > idle:
                    self._end_process()

    def _run_job(self, job: Job) -> bool:
        place = job.store.place
        request = {
            "project": place.project.root if place.project else "",
            "user": place.user.root if place.user else "",
            "paths": sorted(job.paths),
            "all": job.all,
            "sources": job.sources,
            "finish": job.finish,
        }
        process = self._ensure_process()
        if process.stdin is None or process.stdout is None:
            return False
        with self._changed:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        for line in process.stdout:
            message = json.loads(line)
            if "stage" in message:
                self._progress = message
                if job.finish:
                    self._signal_if_reads_wait()
            if message.get("published"):
                self._published(job.store)
                if not job.finish:
                    self._add(Job(job.store, finish=True))
            if message.get("end"):
                if message["wrong"] not in ("", BUSY, LATER):  # a full disk, say
                    job.failed += 1
                    write_line(f"{place.home.root}: {message['wrong']}")
                    return job.failed < _ATTEMPTS
                return bool(message["wrong"])
        raise OSError("the worker process ended unexpectedly")

    def _ensure_process(self) -> Popen[bytes]:
        with self._changed:
            if self._ended:
                raise OSError("the service is stopping")
            if self._process is None or self._process.poll() is not None:
                self._end_process()
                self._process = child_process.start_child(self._worker.module, nice=NICE, log=True)
            return self._process

    def _signal_if_reads_wait(self) -> None:
        """Ask a job that takes long to yield to a read that waited before it, or paused."""
        with self._changed:
            now = time.monotonic()
            if any(not each.finish and each.not_before <= now for each in self._jobs):
                self._signal_waiting()

    def _signal_waiting(self) -> None:
        """Ask the running job to yield to one that waits. The caller has the lock."""
        if self._process and self._process.stdin:
            with suppress(OSError, ValueError):  # it has just ended
                self._process.stdin.write(b"\n")
                self._process.stdin.flush()

    def _end_process(self) -> None:
        with self._changed:
            process, self._process = self._process, None
        if process is not None:
            child_process.end_child(process)


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
