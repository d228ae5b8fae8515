"""What the service does for joined projects: it sends what is shared, and asks at prompts."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from subprocess import Popen
from typing import TYPE_CHECKING

from memfs.core.errors import MemfsError
from memfs.files import child_process
from memfs.search.prompt_relevance import PromptHit
from memfs.service import job_queue
from memfs.store import store_paths
from memfs.store.blocks import Place
from memfs.team import membership, status

if TYPE_CHECKING:
    from memfs.team.search import TeamRecall

BOX = 0.07  # seconds from a prompt on: less than a hook waits for the service
_KEPT = 900.0  # seconds that a late answer waits for the next prompt
_UNUSED = 600.0  # seconds after which a connection ends
_EARLIER = "to an earlier prompt"
_UPLOAD = "memfs.team.upload"
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
_PROMPT_PACE = UploadPace(least=5.0, most=300.0)


class TeamUploads:
    """The thread that runs uploads, one at a time. It never raises.

    Each is a process of its own, so that no request of a hook waits for it; it may be killed at any
    moment (see `team.upload`).
    """

    def __init__(self, pace: UploadPace = PACE) -> None:
        self._pace = pace
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
            job_queue.write_line(f"team: {error or 'everything has been sent'} ({local})")

    def _ask_process(self, local: str) -> dict[str, float | str]:
        """Have a process upload; return its `error` ("" for none) and the seconds to `wait`."""
        with self._changed:
            if self._ended:
                return {}
            process = child_process.start_child(_UPLOAD, nice=job_queue.NICE, log=True)
            self._process = process
        try:
            if process.stdin is None or process.stdout is None:
                return {}
            process.stdin.write(json.dumps({"local": local}).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
            return dict(json.loads(line)) if line else {"error": "the upload process ended"}
        except (OSError, ValueError) as error:
            return {"error": f"the upload process failed: {error}"}
        finally:
            with self._changed:
                self._process = None
            child_process.end_child(process)


class PromptRequest:
    """A prompt that is sent to a server; an empty one only opens the connection."""

    def __init__(self, prompt: str, session: str, shown: list[str]) -> None:
        self.prompt, self.session, self.shown = prompt, session, shown
        self.began = time.monotonic()
        self.answered = threading.Event()
        self.answers: list[PromptHit] = []
        self.is_left = False  # its prompt waits no more

    def get_seconds(self) -> float:
        """Return how old it is."""
        return time.monotonic() - self.began


class RequestThread:
    """Sends prompts to the server of one joined project, one at a time: the latest is the next.

    A prompt waits for a server that answered the last one in time, and `BOX` seconds at most; a
    late answer comes with the session's next prompt.
    """

    def __init__(self, local: str) -> None:
        self._local = local
        self._changed = threading.Condition()
        self._next: PromptRequest | None = None
        self._late: dict[str, tuple[float, list[PromptHit]]] = {}  # by session
        self._is_quick = False  # the last answer came in time
        self._failures = 0
        self._again = 0.0  # when the server may be asked again
        self._error = ""  # the last one, which is not logged again
        self._runs = self._ended = False

    def ask(self, request: PromptRequest) -> bool:
        """Have a request sent; False while the server is left alone. Takes microseconds."""
        with self._changed:
            if self._ended or time.monotonic() < self._again:
                return False
            self._next = request
            if not self._runs:
                self._runs = True
                threading.Thread(target=self._run, name="team-prompts", daemon=True).start()
            self._changed.notify()
        return True

    def collect(self, request: PromptRequest) -> list[PromptHit]:
        """Return the answers that are there, waiting for them if they will come in time."""
        if self._is_quick and not request.answered.wait(BOX - request.get_seconds()):
            self._is_quick = False
        with self._changed:
            request.is_left = True
            at, late = self._late.pop(request.session, (0.0, []))
        seen = {*request.shown, *(ident for each in request.answers for ident in each.ids)}
        if time.monotonic() - at > _KEPT:
            late = []
        return request.answers + [each for each in late if seen.isdisjoint(each.ids)]

    def stop(self) -> None:
        """Send nothing more."""
        with self._changed:
            self._ended = True
            self._changed.notify()

    def _run(self) -> None:
        try:
            from memfs.team.search import TeamRecall  # with HTTP, where a project has joined

            with TeamRecall(self._local) as recall:
                while request := self._wait_for_request():
                    self._handle_request(recall, request)
        except BaseException:  # noqa: BLE001 - the next prompt tries again
            job_queue.failure()
            with self._changed:
                self._runs = self._is_quick = False

    def _wait_for_request(self) -> PromptRequest | None:
        with self._changed:
            if self._next is None and not self._ended:
                self._changed.wait(_UNUSED)
            request, self._next = None if self._ended else self._next, None
            self._runs = request is not None
            return request

    def _handle_request(self, recall: TeamRecall, request: PromptRequest) -> None:
        answers: list[PromptHit] = []
        error, asked = "", 0.0
        try:
            if request.prompt:
                answers = recall.ask(request.prompt, request.session, request.shown)
                took = request.get_seconds()
            else:
                took = recall.warm()
        except (MemfsError, OSError) as failure:
            error, asked = str(failure), float(getattr(failure, "wait", 0.0))
            took = BOX + 1
        with self._changed:
            self._is_quick = took <= BOX
            self._failures = self._failures + 1 if error else 0
            if error:
                self._again = time.monotonic() + _PROMPT_PACE.compute_pause(self._failures, asked)
            if not request.is_left:
                request.answers = answers
            elif answers:
                for each in answers:
                    each.role = f"{each.role}, {_EARLIER}"
                now = time.monotonic()
                kept = {key: pair for key, pair in self._late.items() if now - pair[0] <= _KEPT}
                self._late = {**kept, request.session: (now, answers)}
        request.answered.set()
        if error != self._error:
            self._error = error
            job_queue.write_line(
                f"team: {error or 'the server answers prompts again'} ({self._local})"
            )


class TeamBackground:
    """What the service does for joined projects: it asks their servers, and sends. Thread-safe."""

    def __init__(self) -> None:
        self.uploads = TeamUploads()
        self.start, self.notify = self.uploads.start, self.uploads.notify
        self._threads: dict[str, RequestThread] = {}  # by local folder
        self._lock = threading.Lock()

    def is_joined(self, place: Place) -> bool:
        """Tell whether a project has joined a team. Takes microseconds."""
        if place.project is None or place.user is None:
            return False
        key = membership.make_key(place.project.local)
        return os.path.exists(membership.get_project_path(place.user, key))

    def prepare(self, place: Place) -> None:
        """Open the connection for a session that begins, if its project is joined."""
        if self.is_joined(place):
            self._get_thread(place).ask(PromptRequest("", "", []))

    def ask(
        self, place: Place, prompt: str, shown: list[str]
    ) -> Callable[[], list[PromptHit]] | None:
        """Send a prompt of a joined project; return what waits for the answers.

        None while the server is left alone.
        """
        thread, request = self._get_thread(place), PromptRequest(prompt, place.session, shown)
        return (lambda: thread.collect(request)) if thread.ask(request) else None

    def stop(self) -> None:
        """End at once; what was not sent yet waits."""
        self.uploads.stop()
        with self._lock:
            for thread in self._threads.values():
                thread.stop()

    def _get_thread(self, place: Place) -> RequestThread:
        with self._lock:
            return self._threads.setdefault(place.home.local, RequestThread(place.home.local))
