"""A conversation with a model that manages its memory, within its window; it can be resumed."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import lru_cache, partial
from typing import Self

from memfs.agent import loop
from memfs.agent import usage_limits as queues
from memfs.agent.loop import AgentTurn, Dialogue
from memfs.agent.model import (
    Message,
    Model,
    ModelAnswer,
    ModelError,
    ModelRequest,
    SystemNote,
    Tell,
    UserPrompt,
)
from memfs.agent.usage_limits import Queue, clean_arguments
from memfs.context import brief_contents, page_scores, summary, window_budget
from memfs.context.window_budget import Budget
from memfs.core import label as labels
from memfs.core.errors import LockedError, MemfsError
from memfs.core.escaping import quote_turn
from memfs.core.events import STOP, Event
from memfs.core.privacy import storable
from memfs.core.records import Origin
from memfs.core.settings import Settings
from memfs.core.tokens import estimate
from memfs.files import child_process
from memfs.hosts import OWN
from memfs.ops import ingest, page, session_review
from memfs.store import archive, blocks, config, lock, prompts, resources, sessions, spool
from memfs.store.blocks import Place
from memfs.tools import catalog, registry, tool_budget
from memfs.tools.calls import Result
from memfs.tools.definition import Tool
from memfs.tools.tool_context import ToolContext

EXTRACTED = "(Sentences taken from the messages; no model wrote this.)"
_LONGEST = 600  # tokens of one message, for a summary
_WORDS = 0.6  # of them make a token

_OVERHEAD = 4  # tokens around a message
_estimated = lru_cache(2048)(estimate)  # the same messages are counted before each request
_MARGIN = 1.1  # the ratio until an endpoint reports its usage
_MAX_RATIO = 4.0
_MIN_QUEUE = 256  # tokens for the queue
_SPOKEN_SHARE, _OTHER_SHARE = 0.5, 0.3  # of its room, for one message
_REST_SHARE = 0.5  # of the queue's room stays filled after an eviction
_PRESSURE = (
    "Memory pressure: the conversation fills {share:.0%} of the space for messages. Its "
    "oldest messages will soon leave your context: save what matters in core memory or the archive "
    "now. They stay in recall (conversation_search)."
)

_SCRATCH = labels.qualify(labels.SESSION, labels.WORKING)
_WHY = {
    "window": "the context window is nearly full",
    "task": "another task",
    "topic": "another topic",
    "relevance": "most of it is not about the task",
}


class AgentSession:
    """One session of a place; its queue is on disk, so that it can be resumed.

    Raises `MemfsError` where another process has it, or the window is too small.
    """

    def __init__(self, place: Place, model: Model, rules: loop.LoopLimits) -> None:
        settings = config.load(place)
        self._place, self._rules = place, rules
        self._context = ToolContext(place.home.top, Origin("agent", OWN, place.session), place)
        offer = registry.offer_tools(self._context)
        self._tools, self.problems = offer.tools, offer.problems
        self._review = settings.get("review.mode")
        self._full = settings.get_share("paging.page_out_threshold")
        self._least = settings.get_share("paging.min_relevance_to_keep")
        with ExitStack() as stack:
            try:
                stack.enter_context(lock.hold_lock(place.home, 0, queues.lock_of(place.session)))
            except LockedError as error:
                raise MemfsError(
                    f"the session {place.session} is open in another process",
                    "end the session there, or start a new session",
                ) from error
            brief_contents.create_scratch_block(place)
            self.queue = Queue(place.home, place.session, list(registry.built_in()))
            tools = list(self._tools.values())
            self.window = AgentWindow(place, self.queue, tools, settings, model, self._flush)
            self._write_note()
            self._lock = stack.pop_all()
        self._run_turn = partial(loop.run_turn, model, self._context, self._tools, self.window)

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
        inline one more turn reviews the session where that is due; with nudge a note asks for it.
        """
        self._page_out_scratch(text)
        store, session = self._place.home, self._place.session
        if notice := sessions.peek_notice(store, session):
            self.window.add(SystemNote(notice))
            sessions.clear_notice(store, session)
        try:
            turn = self._run_turn(text, self._rules, tell, show)
            if turn.ended:
                self.review(show)
        finally:
            self._write_note()
        return turn

    def review(self, show: Callable[[Result], object], *, at_end: bool = False) -> None:
        """Let the model review the session where that is due, or queue the notice of a nudge.

        `at_end`: nothing more will be said. Raises `ModelError`.
        """
        if self._review not in (session_review.NUDGE, session_review.INLINE):
            return
        self._flush()
        event = self._build_event()
        more = session_review.finish_turn(event, at_end=at_end).more
        if more:
            self._run_turn(more, self._rules, None, show)
            self._flush()
            event.again = True
            session_review.finish_turn(event)

    def _page_out_scratch(self, text: str) -> None:
        before = [e.message.text for e in self.queue.entries if isinstance(e.message, UserPrompt)]
        lately = "\n".join([*before[-page_scores.BEFORE :], text])
        with suppress(MemfsError, OSError):  # read-only, broken by hand, no room: it stays
            relevances: list[float] = []
            if len(before) >= page_scores.BEFORE and page_scores.is_telling(text):
                parts = page_scores.split_parts(blocks.get(self._place, _SCRATCH).body)
                relevances = page_scores.relevances(lately, [part.text for part in parts])
            why = page_scores.find_trigger(
                text,
                before,
                used=self.window.measure_fill(),
                full=self._full,
                relevances=relevances,
                least=self._least,
            )
            if why:
                origin = Origin("system", OWN, self._place.session, f"paged: {_WHY[why]}")
                former = (
                    "\n".join(before[-page_scores.BEFORE :]) if why in ("task", "topic") else ""
                )
                task = lately if why == "relevance" else page_scores.strip_trigger(text)
                page.page_out(self._place, _SCRATCH, origin, task=task, former=former)

    def close(self) -> None:
        """Ingest the queue into recall, release the lock, and start a background review."""
        try:
            self._flush()
        finally:
            self._lock.close()
        folder = session_review.finish_session(self._build_event())
        if folder:
            words = [folder, OWN, self._place.session]
            child_process.spawn_detached("memfs.agent.reviewer", words, folder, keys=True)

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


class AgentWindow(Dialogue):
    """The context of one session: makes requests of instructions, blocks, summary and queue.

    `flush` makes sure that all of the queue is in recall. Raises `MemfsError` where there is no
    room for anything.
    """

    def __init__(
        self,
        place: Place,
        queue: Queue,
        tools: Sequence[Tool],
        settings: Settings,
        model: Model,
        flush: Callable[[], object],
    ) -> None:
        self.budget: Budget = window_budget.load_budget(settings)
        self._place, self._queue = place, queue
        self._model, self._flush = model, flush
        super().__init__(tool_budget.fit_tools(tools, self.budget.get_share("tools")))
        self._names = [tool.name for tool in self._tools]
        self._definitions = tool_budget.tokens(self._tools)
        self._warn = settings.get_share("paging.warn_threshold")
        self._most = settings.number("context.message_history_limit")
        self._ratio = _MARGIN  # the endpoint's token count to ours
        self._warned = False

    def add(self, message: Message) -> None:
        """Append a message to the queue."""
        self._queue.add(message)

    def request(self) -> ModelRequest:
        """Return the next request to the model, after evicting messages that have no room."""
        system = self._build_system()
        room = self._compute_room(system)
        if self._count_queue(room) > room or self._is_over_limit():
            self._evict(room)
        elif not self._warned and self._count_queue(room) >= self._warn * room:
            self._warned = True
            pressure = _PRESSURE.format(share=self._count_queue(room) / room)
            self._queue.add(SystemNote(self._drop_missing(pressure)))
            if self._count_queue(room) > room:
                self._evict(room)
        return ModelRequest(system, self._fit_messages(room), self._tools, self.budget.response)

    def record_usage(self, request: ModelRequest, answer: ModelAnswer) -> None:
        """Raise the ratio of the endpoint's token count to ours, if it counted more."""
        count = self._count_request(request)
        if answer.usage.read > count:
            self._ratio = min(_MAX_RATIO, max(self._ratio, answer.usage.read / count))

    def measure_fill(self) -> float:
        """Return how much of the queue's room is filled, from 0."""
        room = self._compute_room(self._build_system())
        return self._count_queue(room) / room

    def _count_request(self, request: ModelRequest) -> int:
        messages = sum(map(_count_tokens, request.messages))
        return max(1, estimate(request.system) + _OVERHEAD + self._definitions + messages)

    def _compute_room(self, system: str) -> int:
        """Return the tokens left for the queue, by our count. Raises `MemfsError`."""
        fixed = estimate(system) + _OVERHEAD + self._definitions
        room = int(self.budget.room / self._ratio) - fixed
        if room < _MIN_QUEUE:
            raise MemfsError(
                f"a window of {self.budget.window:,} tokens is too small: instructions, blocks and "
                f"tools need {fixed:,}",
                "raise context.max_tokens, up to what the model supports",
            )
        return room

    def _build_system(self) -> str:
        stores = self._place.stores()
        passages = sum(len(archive.sources(store)) for store in stores)
        state = (
            f"Recall has {self._queue.evicted:,} messages of this conversation that left your "
            f"context; the archive has {passages:,} passages."
        )
        instructions = self._drop_missing(
            f"{prompts.read(self._place, 'agent').strip()}\n{state}\n"
        )
        room = self.budget.get_share("blocks")
        brief = brief_contents.compose_within(self._place, room, tools=self._names)
        return f"{instructions}\n{brief}"

    def _drop_missing(self, text: str) -> str:
        """Return a text without the sentences that name a tool of memfs which is not offered."""
        ours = [tool.name for tool in catalog.BUILT_IN if "_" in tool.name]  # "memory" is a word
        missing = [name for name in ours if name not in self._names]
        gone = re.compile(rf"\b(?:{'|'.join(missing)})\b" if missing else "(?!)")
        lines = []
        for line in text.split("\n"):
            parts = re.split(r"(?<=[.:;]) ", line)
            kept = [part for part in parts if not gone.search(part)]
            lines.append(" ".join(kept) if kept == parts else f"{' '.join(kept).rstrip(';:.')}.")
        return "\n".join(lines)

    def _collect_messages(self, room: int) -> list[Message]:
        """Return the summary and the queue's messages, each cut to its share of `room`."""
        found: list[Message] = []
        if self._queue.evicted:
            found.append(
                SystemNote(
                    f"Summary of the {self._queue.evicted:,} earlier messages of this "
                    f"conversation, which conversation_search finds:\n{self._queue.summary}"
                )
            )
        return [*found, *(_cut_message(entry.message, room) for entry in self._queue.entries)]

    def _fit_messages(self, room: int) -> list[Message]:
        """Return the messages to show; they are cut further until they fit into `room`."""
        shown = self._collect_messages(room)
        limit = room
        while sum(map(_count_tokens, shown)) > room and limit > _MIN_QUEUE // 8:
            limit = limit * 3 // 4
            shown = self._collect_messages(limit)
        return shown

    def _count_queue(self, room: int) -> int:
        return sum(map(_count_tokens, self._collect_messages(room)))

    def _is_over_limit(self) -> bool:
        return 0 < self._most < len(self._queue.entries)

    def _evict(self, room: int) -> None:
        """Evict the oldest messages, until the rest fills half of the room.

        A turn goes as a whole, but the last one where it is too long by itself; even there a result
        stays with its call.
        """
        entries = self._queue.entries
        sizes = [_count_tokens(_cut_message(entry.message, room)) for entry in entries]
        turns = [n for n, each in enumerate(entries) if isinstance(each.message, UserPrompt)]
        share = self.budget.get_share("summary")
        if turns and sum(sizes[turns[-1] :]) <= room - share:
            keep = turns[-1]
        else:
            answers = [n for n, each in enumerate(entries) if isinstance(each.message, ModelAnswer)]
            keep = answers[-1] if answers else 0
        most = max(1, self._most // 2) if self._is_over_limit() else len(entries)
        for start in [start for start in reversed(turns) if start < keep]:
            if sum(sizes[start:]) > _REST_SHARE * room - share or len(entries) - start > most:
                break
            keep = start
        if not keep:
            return
        self._flush()
        evicted = [entry.message for entry in entries[:keep]]
        tokens = int(share / self._ratio)
        text = rewrite_summary(self._model, self.budget.room, self._queue.summary, evicted, tokens)
        self._queue.evict(keep, text)
        self._warned = False


def _cut_message(message: Message, room: int) -> Message:
    is_spoken = isinstance(message, UserPrompt | ModelAnswer)
    limit = int((_SPOKEN_SHARE if is_spoken else _OTHER_SHARE) * room)
    if len(message.text) <= limit:  # a token has a character at least, near enough
        return message
    text = window_budget.cut_middle(message.text, limit)
    return message if text == message.text else replace(message, text=text)


def _count_tokens(message: Message) -> int:
    count = _estimated(message.text) + _OVERHEAD
    if isinstance(message, ModelAnswer):
        calls = [[call.name, call.arguments, call.id] for call in message.calls]
        count += estimate(json.dumps(calls)) + _OVERHEAD * len(calls) if calls else 0
    return count


def rewrite_summary(
    model: Model, room: int, before: str, evicted: Sequence[Message], share: int
) -> str:
    """Return the summary of `before` and the evicted messages, in `share` tokens.

    `room` is what a prompt of the model may have. Where it cannot be asked, sentences are taken.
    """
    before = storable(before)
    turns = [turn for message in evicted for turn in _list_turns(message)]
    with suppress(ModelError):  # the messages are in recall; the conversation goes on
        return _ask_for_summary(model, room, before, turns, share)
    former = before.removeprefix(EXTRACTED).strip()
    text = "\n".join(filter(None, (former, *(f"{who} {text}" for who, text in turns))))
    return f"{EXTRACTED}\n{summary.extract(text, share - estimate(EXTRACTED) - 1)}"


def _ask_for_summary(
    model: Model, room: int, before: str, turns: Sequence[tuple[str, str]], share: int
) -> str:
    words = str(max(20, int(share * _WORDS)))
    system = resources.read_text("templates", "prompts", "summary.md").replace("{words}", words)
    found = before
    for part in _split_turns(turns, max(room - estimate(system) - 2 * share, share)):
        prompt = f"The summary so far:\n{found or '(none)'}\n\nThe messages:\n{part}"
        answer = model.ask(ModelRequest(system, [UserPrompt(prompt)], (), share))
        found = answer.text.strip()
        if not found:
            raise ModelError("the model wrote no summary")
        if estimate(found) > share:  # its most relevant sentences
            found = summary.extract(found, share) or window_budget.cut_middle(found, share)
    return found


def _split_turns(turns: Sequence[tuple[str, str]], room: int) -> Iterator[str]:
    """Yield turns as texts of at most `room` tokens.

    Every line of a message is quoted: none can be taken for the beginning of another.
    """
    lines: list[str] = []
    used = 0
    for who, text in turns:
        line = quote_turn(who, window_budget.cut_middle(text, min(_LONGEST, room)))
        if lines and used + estimate(line) > room:
            yield "\n".join(lines)
            lines, used = [], 0
        lines.append(line)
        used += estimate(line) + 1
    if lines:
        yield "\n".join(lines)


def _list_turns(message: Message) -> list[tuple[str, str]]:
    """Return (speaker, text) for each part of a message, without secrets: a summary is stored."""
    text = storable(message.text)
    match message:
        case UserPrompt():
            return [("user:", text)]
        case ModelAnswer():
            called = ", ".join(
                f"{c.name} {json.dumps(clean_arguments(c.arguments))}" for c in message.calls
            )
            turns = [("assistant:", text), ("assistant calls", called)]
            return [(who, text) for who, text in turns if text]
        case Result():
            return [(f"{message.call.name} answers:", text)]
        case SystemNote():
            return []
