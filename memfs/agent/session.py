"""A conversation with a model that manages its memory; it can be resumed later."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Self

from memfs.agent import loop
from memfs.agent import queue as queues
from memfs.agent.loop import AgentTurn
from memfs.agent.model import Model, SystemNote, Tell, UserPrompt
from memfs.agent.queue import Queue
from memfs.agent.summaries import Summaries
from memfs.agent.window import AgentWindow
from memfs.context import brief_contents, page_scores, page_triggers, window_budget
from memfs.core import label as labels
from memfs.core.errors import LockedError, MemfsError
from memfs.core.events import STOP, Event
from memfs.core.records import Origin
from memfs.hosts import OWN
from memfs.ipc import spawn
from memfs.ops import ingest, page
from memfs.ops import review as session_review
from memfs.store import blocks, clock, config, lock, sessions, spool
from memfs.store.blocks import Place
from memfs.tools import registry
from memfs.tools.calls import Result
from memfs.tools.tool_context import ToolContext

_SCRATCH = labels.qualify(labels.SESSION, labels.WORKING)
_WHY = {
    "window": "the window is nearly full",
    "task": "another task",
    "topic": "another topic",
    "relevance": "most of it is off the task",
}


class AgentSession:
    """One session of a place; its queue is on disk, so that it can be resumed.

    Raises `MemfsError` where another process has it, or the window is too small.
    """

    def __init__(self, place: Place, model: Model, rules: loop.LoopLimits) -> None:
        settings = config.load(place)
        self._place, self._model, self._rules = place, model, rules
        self._context = ToolContext(place.home.top, Origin("agent", OWN, place.session), place)
        offer = registry.offer_tools(self._context)
        self._tools, self.problems = offer.tools, offer.problems
        self._review = settings.get("review.mode")
        self._full = settings.get_share("paging.page_out_threshold")
        self._least = settings.get_share("paging.min_relevance_to_keep")
        summaries = Summaries(model, window_budget.load_budget(settings).room)
        with ExitStack() as stack:
            try:
                stack.enter_context(lock.hold_lock(place.home, 0, queues.lock_of(place.session)))
            except LockedError as error:
                raise MemfsError(
                    f"the session {place.session} is open in another process",
                    "end it there, or begin another one",
                ) from error
            brief_contents.create_scratch_block(place)
            self.queue = Queue(place.home, place.session, list(registry.built_in()))
            tools = list(self._tools.values())
            self.window = AgentWindow(place, self.queue, tools, settings, summaries, self._flush)
            self._write_note()
            self._lock = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def say(
        self, text: str, tell: Tell | None = None, show: Callable[[Result], object] = lambda _: None
    ) -> AgentTurn:
        """Let the model answer a prompt; `show` gets the result of each call. Raises `ModelError`.

        First pages out the scratch block's parts of the former task, where the task or topic
        changes, or most of the block is irrelevant to the latest prompts. With `review.mode`
        inline one more turn reviews the session, once; with nudge a note asks for it.
        """
        self._page_out_scratch(text)
        self._add_notice()
        try:
            turn = self._run_turn(text, tell, show)
            more = self._request_review() if turn.ended else ""
            if more:
                self._run_turn(more, None, show)
                self._request_review(again=True)
        finally:
            self._write_note()
        return turn

    def _run_turn(
        self, text: str, tell: Tell | None, show: Callable[[Result], object]
    ) -> AgentTurn:
        return loop.run_turn(
            self._model, self._context, self._tools, self.window, text, self._rules, tell, show
        )

    def _add_notice(self) -> None:
        """Add the queued notices of the session to its messages."""
        store, session = self._place.home, self._place.session
        notice = sessions.peek_notice(store, session)
        if notice:
            self.window.add(SystemNote(notice))
            sessions.clear_notice(store, session)

    def _request_review(self, *, again: bool = False) -> str:
        """Return the prompt of an inline review that is due, or queue the notice of a nudge."""
        if self._review not in (session_review.NUDGE, session_review.INLINE):
            return ""
        self._flush()
        event = self._build_event()
        event.again = again
        return session_review.finish_turn(event).more

    def _page_out_scratch(self, text: str) -> None:
        before = [e.message.text for e in self.queue.entries if isinstance(e.message, UserPrompt)]
        lately = "\n".join([*before[-page_triggers.BEFORE :], text])
        with suppress(MemfsError, OSError):  # read-only, broken by hand, no room: it stays
            drifts = len(before) >= page_triggers.BEFORE and page_triggers.is_telling(text)
            why = page_triggers.find_trigger(
                text,
                before,
                used=self.window.measure_fill(),
                full=self._full,
                relevances=self._rate_parts(lately) if drifts else (),
                least=self._least,
            )
            if why:
                origin = Origin("system", OWN, self._place.session, f"paged: {_WHY[why]}")
                task = lately if why == "relevance" else text
                page.page_out(self._place, _SCRATCH, origin, task=task)

    def _rate_parts(self, task: str) -> list[float]:
        split_parts = page_scores.split_parts(blocks.get(self._place, _SCRATCH).body)
        return page_scores.relevances(task, [part.text for part in split_parts])

    def close(self) -> None:
        """Ingest the queue into recall, release the lock, and start a background review."""
        try:
            self._flush()
        finally:
            self._lock.close()
        folder = session_review.finish_session(self._build_event())
        if folder:
            words = [folder, OWN, self._place.session]
            spawn.spawn_detached("memfs.agent.review", words, folder, keys=True)

    def _write_note(self) -> None:
        """Note in the spool that the queue grew: the next search ingests it."""
        store, session = self._place.home, self._place.session
        if not any(noted == session for *_, noted in spool.list_notes(store)):
            spool.write_note(store, OWN, self.queue.path, session)

    def _flush(self) -> None:
        ingest.ingest_event(self._build_event())

    def _build_event(self) -> Event:
        top, session = self._place.home.top, self._place.session
        return Event(OWN, STOP, "", session, top, self.queue.path)


def new_id() -> str:
    """Return the id of a session that begins now."""
    return f"agent-{clock.unique()}"
