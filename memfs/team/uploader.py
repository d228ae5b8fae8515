"""Sends what is shared with teams while the service runs, in a process of its own.

What is shared is computed by that process, so that no request of a hook waits for it; it may be
killed at any moment (see `team.upload`). This thread only decides when it runs: soon after
recall changed, every few minutes while something waits, and later and later while a server is away.
"""

from __future__ import annotations

import json
import random
import threading
import time
from dataclasses import dataclass
from subprocess import Popen

from memfs.files import child_process
from memfs.service import job_queue
from memfs.store import store_paths
from memfs.team import membership, status

_DRAW = random.SystemRandom()


@dataclass(frozen=True)
class UploadPace:
    """When uploads run, in seconds.

    `lull` after a change; `check` between two looks for what waits; `least` after a first failure,
    twice as long after each other one, and at most `most`.
    """

    lull: float = 5.0
    check: float = 180.0
    least: float = 10.0
    most: float = 900.0

    def compute_pause(self, failures: int, asked: float) -> float:
        """Return how long to wait after some failures; `asked` is what the server asks for.

        It is drawn from half of the time on: members do not all come back at once.
        """
        longest = min(self.most, self.least * 2.0 ** min(failures - 1, 20))
        return max(asked, longest * _DRAW.uniform(0.5, 1.0))


PACE = UploadPace()


class TeamUploads:
    """The thread that runs uploads, one at a time. It never raises."""

    def __init__(self, pace: UploadPace = PACE, module: str = "memfs.team.upload") -> None:
        self._pace, self._module = pace, module
        self._changed = threading.Condition()
        self._due: dict[str, float] = {}  # when an upload is to run, by local folder
        self._failures: dict[str, int] = {}
        self._errors: dict[str, str] = {}  # the last one, which is not logged again
        self._process: Popen[bytes] | None = None
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="team", daemon=True)

    def start(self) -> None:
        """Begin, with what waits since the last time."""
        self._thread.start()

    def notify(self, local: str) -> None:
        """Have a store's recall compared soon, if its project is joined. Takes microseconds."""
        with self._changed:
            if local not in self._failures:  # the server is away: its pause holds
                self._due.setdefault(local, time.monotonic() + self._pace.lull)
                self._changed.notify()

    def stop(self) -> None:
        """End at once; what was not sent yet waits."""
        with self._changed:
            self._ended = True
            if self._process is not None:
                self._process.kill()
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(1)

    def _run(self) -> None:
        look = 0.0
        while not self._ended:
            try:
                if time.monotonic() >= look:
                    look = time.monotonic() + self._pace.check
                    self._find_waiting()
                local = self._wait_for_due(look)
                if local:
                    self._run_upload(local)
            except Exception:  # noqa: BLE001 - the next look tries again
                job_queue.failure()
                with self._changed:
                    if not self._ended:
                        self._changed.wait(self._pace.least)

    def _find_waiting(self) -> None:
        """Let uploads run soon of all projects of which something waits."""
        user = store_paths.user_store()
        for project in membership.list_joined_projects(user)[0] if user else ():
            store = None if self._ended else status.find_store(project)
            found = status.load_store_status(user, store) if user and store else None
            if found and found.waits:
                self.notify(project.local)

    def _wait_for_due(self, until: float) -> str:
        """Wait for an upload that is due, or for the time `until`: then return ""."""
        with self._changed:
            while not self._ended:
                now = time.monotonic()
                ready = [local for local, at in self._due.items() if at <= now]
                if ready:
                    del self._due[ready[0]]
                    return ready[0]
                if now >= until:
                    return ""
                self._changed.wait(min([until, *self._due.values()]) - now)
        return ""

    def _run_upload(self, local: str) -> None:
        """Run an upload to its end; if it failed, let it run again later."""
        user = store_paths.user_store()
        joined = membership.list_joined_projects(user)[0] if user else []
        if all(project.local != local for project in joined):
            self._failures.pop(local, None)
            return
        found = self._ask_process(local)
        error = str(found.get("error", ""))
        with self._changed:
            if error and not self._ended:
                self._failures[local] = self._failures.get(local, 0) + 1
                asked = float(found.get("wait", 0.0))
                pause = self._pace.compute_pause(self._failures[local], asked)
                self._due[local] = time.monotonic() + pause
            else:
                self._failures.pop(local, None)
        if error != self._errors.get(local, ""):
            self._errors[local] = error
            job_queue.write_line(f"team: {error or 'all is sent'}: {local}")

    def _ask_process(self, local: str) -> dict[str, float | str]:
        """Have a process upload; return its `error` ("" for none) and the seconds to `wait`."""
        with self._changed:
            if self._ended:
                return {}
            process = child_process.start_child(self._module, nice=job_queue.NICE, log=True)
            self._process = process
        try:
            if process.stdin is None or process.stdout is None:
                return {}
            process.stdin.write(json.dumps({"local": local}).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
            return dict(json.loads(line)) if line else {"error": "its process ended"}
        except (OSError, ValueError) as error:
            return {"error": f"its process ended: {error}"}
        finally:
            with self._changed:
                self._process = None
            child_process.end_child(process)
