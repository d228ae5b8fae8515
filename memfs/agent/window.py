"""Main context: instructions and blocks, a summary, and as much of the queue as there is room for.

The order is that of the MemGPT paper: system instructions, core memory, and the FIFO queue whose
first entry is the recursive summary. Before each request: from 70 % of the queue's room on the
model is warned; where it would be full, the older half is evicted: it is in recall then, and the
summary is rewritten from the former one and what leaves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from memfs.agent.model import Message, ModelAnswer, ModelRequest, SystemNote, UserPrompt
from memfs.agent.queue import Queue
from memfs.agent.summaries import Summaries
from memfs.context import brief_contents
from memfs.context import window_budget as budgets
from memfs.context.window_budget import Budget
from memfs.core.errors import MemfsError
from memfs.core.settings import Settings
from memfs.core.tokens import estimate
from memfs.store import archive, prompts
from memfs.store.blocks import Place
from memfs.tools import tool_budget
from memfs.tools.calls import Result
from memfs.tools.definition import Tool

_OVERHEAD = 4  # tokens around a message
_estimated = lru_cache(2048)(estimate)  # the same messages are counted before each request
_MARGIN = 1.1  # the ratio until an endpoint reports its usage
_MAX_RATIO = 4.0
_MIN_QUEUE = 256  # tokens for the queue
_MESSAGE_SHARE = {
    UserPrompt: 0.5,
    ModelAnswer: 0.5,
    Result: 0.3,
    SystemNote: 0.3,
}  # of its room, for one message
_REST_SHARE = 0.5  # of the queue's room stays filled after an eviction
_PRESSURE = (
    "Memory pressure: the conversation fills {share:.0%} of its room. Its oldest messages will "
    "soon leave your context; what matters of them belongs into core memory or the archive now. "
    "They stay in recall (conversation_search)."
)


class AgentWindow:
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
        summaries: Summaries,
        flush: Callable[[], object],
    ) -> None:
        self.budget: Budget = budgets.load_budget(settings)
        self._place, self._queue = place, queue
        self._summaries, self._flush = summaries, flush
        self._tools = tool_budget.fit_tools(tools, self.budget.get_share("tools"))
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
            self._queue.add(SystemNote(_PRESSURE.format(share=self._count_queue(room) / room)))
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
        """Estimate the tokens of a request, as `_compute_room` and `_count_queue` do."""
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
                "raise context.max_tokens, as far as the model can read",
            )
        return room

    def _build_system(self) -> str:
        stores = self._place.stores()
        passages = sum(len(archive.sources(store)) for store in stores)
        state = (
            f"In recall are {self._queue.evicted:,} messages of this conversation that left your "
            f"context, in the archive {passages:,} passages."
        )
        instructions = f"{prompts.read(self._place, 'agent').strip()}\n{state}\n"
        return f"{instructions}\n{self._compose_blocks()}"

    def _compose_blocks(self) -> str:
        """Return the brief, cut to its share of the window with a note."""
        room = self.budget.get_share("blocks")
        return brief_contents.compose_within(self._place, room, tools=True)

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
        summary = self._summaries.rewrite(self._queue.summary, evicted, int(share / self._ratio))
        self._queue.evict(keep, summary)
        self._warned = False


def _cut_message(message: Message, room: int) -> Message:
    """Cut a message to its share of the room."""
    limit = int(_MESSAGE_SHARE[type(message)] * room)
    if len(message.text) <= limit:  # a token has a character at least, near enough
        return message
    text = budgets.cut_middle(message.text, limit)
    return message if text == message.text else replace(message, text=text)


def _count_tokens(message: Message) -> int:
    """Estimate the tokens of a message."""
    count = _estimated(message.text) + _OVERHEAD
    if isinstance(message, ModelAnswer):
        calls = [[call.name, call.arguments, call.id] for call in message.calls]
        count += estimate(json.dumps(calls)) + _OVERHEAD * len(calls) if calls else 0
    return count
