"""Jobs of one kind: a queue, and the process that does them, one at a time, while there are any."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memfs.service import log

if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.service.store_pool import LoadedStore

# Why a job ended before its time, and is gone on with: another process was at the same thing, or
# other jobs wait that are done sooner.
BUSY, LATER = "busy", "later"
_IDLE = 20.0  # seconds that the process stays without a job
_TRIES = 3  # of a job over which the process ended
_ATTEMPTS = 7  # of one that could not be done: about an hour, with longer and longer pauses
_RETRY = 1.0  # seconds until a job is done again that found a lock
_CODE = """
import os, sys
if hasattr(os, "nice"):
    os.nice(10)
sys.path[:] = sys.argv[1:]
from memfs.service import worker
worker.main()
"""


@dataclass
class Job:
    """A store that has something to be done, and what of it changed, if that is to be read.

    `paths` are transcripts, and folders where some may have changed while nobody looked; `all`:
    other sources of it changed, too.
    """

    held: LoadedStore
    paths: set[str] = field(default_factory=set)
    all: bool = False
    not_before: float = 0.0
    failed: int = 0  # times that it could not be done, or the process ended over it

    def join(self, other: Job) -> None:
        """Do the other in this one, as soon as either is to be done."""
        self.paths |= other.paths
        self.all |= other.all
        self.not_before = min(self.not_before, other.not_before)


class JobQueue:
    """Does one job at a time. `published` is called with the store whenever there is news.

    `finish`: what was read gets what takes long; else what changed is read (see `worker`).
    """

    def __init__(self, published: Callable[[LoadedStore], object], *, finish: bool = False) -> None:
        self._published = published
        self._finish = finish
        self._jobs: deque[Job] = deque()
        self._now: Job | None = None
        self._progress: dict[str, object] = {}
        self._process: subprocess.Popen[str] | None = None
        self._ended = False
        self._changed = threading.Condition()
        name = "finish" if finish else "read"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def add(self, job: Job) -> None:
        """Let a job be done; what waits for its store already is joined.

        What takes long is put off for it; finishing a store is not put off for the same store.
        """
        with self._changed:
            waiting = self._waiting_for(job.held)
            if waiting is None:
                self._jobs.append(job)
            else:
                waiting.join(job)
            self._changed.notify()
            if self._now and not (self._finish and self._now.held is job.held):
                self._say_that_one_waits()

    def busy(self, held: LoadedStore) -> bool:
        """Tell whether something is being done for a store just now."""
        now = self._now
        return now is not None and now.held is held

    def said(self) -> list[dict[str, object]]:
        """Return what is done, and what waits."""
        with self._changed:
            now, waiting = self._now, list(self._jobs)
        progress = self._progress or {"stage": "looking"}
        found = [{"store": now.held.place.home.root, **progress}] if now else []
        return found + [{"store": job.held.place.home.root, "stage": "waiting"} for job in waiting]

    def stop(self) -> None:
        """End the process at once: what it was at is gone on with another time."""
        with self._changed:
            self._ended = True
            self._jobs.clear()
            if self._process is not None:
                self._process.kill()
            self._changed.notify()

    def join(self) -> None:
        """Wait a moment for the thread to end, after `stop`."""
        self._thread.join(1)

    def _run(self) -> None:
        while True:
            job = self._next()
            if job is None:
                self._end()
                return
            try:
                again = self._do(job)
            except Exception as error:  # noqa: BLE001 - no room for a process, or it was killed
                job.failed += 1
                again = job.failed < _TRIES
                self._end()
                if not self._ended:
                    log.line(f"a job failed ({error!r}): {job.held.place.home.root}")
            with self._changed:
                self._now, self._progress = None, {}
                if again and not self._ended:
                    self._put_back(job)

    def _put_back(self, job: Job) -> None:
        """Let a job be gone on with after those that wait; the caller has the lock."""
        waiting = self._waiting_for(job.held)
        if waiting is None:
            job.not_before = time.monotonic() + _RETRY * 4**job.failed
            self._jobs.append(job)
        else:
            waiting.join(job)
            self._jobs.remove(waiting)
            self._jobs.append(waiting)

    def _waiting_for(self, held: LoadedStore) -> Job | None:
        return next((job for job in self._jobs if job.held is held), None)

    def _next(self) -> Job | None:
        """Wait for the next job; let the process go when there was none for some time."""
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
                most = pause if self._process is None else min(pause, _IDLE)
                if not self._changed.wait(None if most == math.inf else most) and pause > _IDLE:
                    self._end()

    def _do(self, job: Job) -> bool:
        """Have one job done; tell whether it is to be done again. Raises `OSError`."""
        place = job.held.place
        asked = {
            "project": place.project.root if place.project else "",
            "user": place.user.root if place.user else "",
            "paths": sorted(job.paths),
            "all": job.all,
            "finish": self._finish,
        }
        process = self._started()
        if process.stdin is None or process.stdout is None:
            return False
        with self._changed:
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
        for line in process.stdout:
            said = json.loads(line)
            if "stage" in said:
                self._progress = said
            if said.get("published"):
                self._published(job.held)
            if said.get("end"):
                if said["wrong"] not in ("", BUSY, LATER):  # a full disk, say
                    job.failed += 1
                    log.line(f"{place.home.root}: {said['wrong']}")
                    return job.failed < _ATTEMPTS
                return bool(said["wrong"])
        raise OSError("the worker ended")

    def _started(self) -> subprocess.Popen[str]:
        with self._changed:
            if self._ended:
                raise OSError("the service leaves")
            if self._process is None or self._process.poll() is not None:
                self._end()
                self._process = subprocess.Popen(  # noqa: S603 - this Python, our code
                    [sys.executable, "-I", "-S", "-c", _CODE, *sys.path],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    encoding="utf-8",
                )
            return self._process

    def _say_that_one_waits(self) -> None:
        """Let what takes long be put off for a job that waits; the caller has the lock."""
        if self._process and self._process.stdin:
            with suppress(OSError, ValueError):  # it has just ended
                self._process.stdin.write("\n")
                self._process.stdin.flush()

    def _end(self) -> None:
        """End the process. Its own thread alone does that: nobody else is reading what it says."""
        with self._changed:
            process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not written yet
                    pipe.close()
        process.wait()
