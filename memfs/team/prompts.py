"""Asks teams' servers at prompts, beside the local search, and keeps no prompt waiting for long.

A prompt waits for a server that answered the last one in time, and `BOX` seconds at most. After an
answer that was late, or failed, no prompt waits: they are sent all the same, and the first that is
answered in time ends that. A late answer comes with the session's next prompt.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from memfs.core.errors import MemfsError
from memfs.search.prompt_relevance import PromptHit
from memfs.service import job_queue
from memfs.store.blocks import Place
from memfs.team import membership
from memfs.team.uploader import TeamUploads, UploadPace

if TYPE_CHECKING:
    from memfs.team.search import TeamRecall


BOX = 0.07  # seconds from a prompt on: less than a hook waits for the service
_KEPT = 900.0  # seconds that a late answer waits for the next prompt
_UNUSED = 600.0  # seconds after which a connection ends
_PACE = UploadPace(least=5.0, most=300.0)
_EARLIER = "to an earlier prompt"


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
    """Sends prompts to the server of one joined project, one at a time: the latest is the next."""

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
        """Send what comes, until nothing came for a while."""
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
        """Wait for a request and return it; None after a while, or at the end."""
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
                self._again = time.monotonic() + _PACE.compute_pause(self._failures, asked)
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
            job_queue.write_line(f"team: {error or 'it answers prompts again'}: {self._local}")


class TeamPrompts:
    """Sends prompts to the servers of all joined projects. Thread-safe."""

    def __init__(self) -> None:
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
        """Send nothing more."""
        with self._lock:
            for thread in self._threads.values():
                thread.stop()

    def _get_thread(self, place: Place) -> RequestThread:
        with self._lock:
            return self._threads.setdefault(place.home.local, RequestThread(place.home.local))


class TeamBackground(TeamPrompts):
    """What the service does for joined projects: it asks their servers, and sends. Thread-safe."""

    def __init__(self) -> None:
        super().__init__()
        self.uploads = TeamUploads()
        self.start, self.notify = self.uploads.start, self.uploads.notify

    def stop(self) -> None:
        """End at once; what was not sent yet waits."""
        self.uploads.stop()
        super().stop()
