"""Main context: instructions and blocks, a summary, and as much of the queue as there is room for.

The order is that of the MemGPT paper: system instructions, core memory, and the FIFO queue whose
first entry is the recursive summary. Before each request: from 70 % of the queue's room on the
model is warned; where it would be full, the older half is evicted: it is in recall then, and the
summary is rewritten from the former one and what leaves.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from memfs.agent.model import ModelAnswer, ModelRequest, SystemNote, UserPrompt
from memfs.context import brief_text
from memfs.context import budget as budgets
from memfs.core.errors import MemfsError
from memfs.core.tokens import estimate
from memfs.store import archive, resources
from memfs.tools import tool_budget
from memfs.tools.calls import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memfs.agent.model import Message
    from memfs.agent.queue import Queue
    from memfs.agent.summaries import Summaries
    from memfs.context.budget import Budget
    from memfs.core.settings import Settings
    from memfs.store.blocks import Place
    from memfs.tools.definition import Tool

_EACH = 4  # tokens around a message
_estimated = lru_cache(2048)(estimate)  # the same messages are counted before each request
_MARGIN = 1.1  # by which an endpoint may count more than we do, until it tells
_MOST_OFF = 4.0
_LEAST = 256  # tokens for the queue
_LONGEST = {
    UserPrompt: 0.5,
    ModelAnswer: 0.5,
    Result: 0.3,
    SystemNote: 0.3,
}  # of its room, for one message
_KEPT = 0.5  # of the queue's room stays filled after an eviction
_PRESSURE = (
    "Memory pressure: the conversation fills {share:.0%} of its room. Its oldest messages will "
    "soon leave your context; what matters of them belongs into core memory or the archive now. "
    "They stay in recall (conversation_search)."
)


class AgentWindow:
    """What the model is shown of one session; its queue grows by what is said.

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
        self._tools = tool_budget.fit_tools(tools, self.budget.share("tools"))
        self._definitions = tool_budget.tokens(self._tools)
        self._warn = settings.share("paging.warn_threshold")
        self._most = settings.number("context.message_history_limit")
        self._off = _MARGIN  # how many tokens of the endpoint's are one of ours
        self._warned = False

    def add(self, message: Message) -> None:
        """Take what was said."""
        self._queue.add(message)

    def request(self) -> ModelRequest:
        """Return what the model is to be asked now, after what has no room was evicted."""
        system = self._system()
        room = self._room(system)
        if self._used(room) > room or self._too_many():
            self._evict(room)
        elif not self._warned and self._used(room) >= self._warn * room:
            self._warned = True
            self._queue.add(SystemNote(_PRESSURE.format(share=self._used(room) / room)))
            if self._used(room) > room:
                self._evict(room)
        return ModelRequest(system, self._messages(room), self._tools, self.budget.response)

    def answered(self, request: ModelRequest, answer: ModelAnswer) -> None:
        """Learn how many tokens the endpoint counts where we count one."""
        ours = self._count(request)
        if answer.usage.read > ours:
            self._off = min(_MOST_OFF, max(self._off, answer.usage.read / ours))

    def share(self) -> float:
        """Return how much of the queue's room is filled, 0 to 1."""
        room = self._room(self._system())
        return self._used(room) / room

    def used(self) -> dict[str, int]:
        """Return the tokens of each section of the next request, about."""
        system = self._system()
        summary, *rest = self._with_summary(self._room(system))
        return {
            "instructions and blocks": estimate(system),
            "tools": self._definitions,
            "summary": _tokens(summary) if isinstance(summary, SystemNote) else 0,
            "messages": sum(map(_tokens, rest)),
        }

    def _count(self, request: ModelRequest) -> int:
        """Count a request as `_room` and `_used` do."""
        said = sum(map(_tokens, request.messages))
        return max(1, estimate(request.system) + _EACH + self._definitions + said)

    def _room(self, system: str) -> int:
        """Return the tokens that are left for the queue, in ours."""
        fixed = estimate(system) + _EACH + self._definitions
        room = int(self.budget.room / self._off) - fixed
        if room < _LEAST:
            raise MemfsError(
                f"a window of {self.budget.window:,} tokens is too small: instructions, blocks and "
                f"tools need {fixed:,}",
                "raise context.max_tokens, as far as the model can read",
            )
        return room

    def _system(self) -> str:
        stores = self._place.stores()
        passages = sum(len(archive.sources(store)) for store in stores)
        state = (
            f"In recall are {self._queue.evicted:,} messages of this conversation that left your "
            f"context, in the archive {passages:,} passages."
        )
        instructions = f"{resources.read_text('templates', 'agent.md').strip()}\n{state}\n"
        return f"{instructions}\n{self._blocks()}"

    def _blocks(self) -> str:
        """Return the brief, in its share of the window; what is cut says so in it."""
        return brief_text.compose_within(self._place, self.budget.share("blocks"), tools=True)

    def _with_summary(self, room: int) -> list[Message]:
        """Return the queue as it is shown: the summary first, and no message longer than it may."""
        found: list[Message] = []
        if self._queue.evicted:
            found.append(
                SystemNote(
                    f"Summary of the {self._queue.evicted:,} earlier messages of this "
                    f"conversation, which conversation_search finds:\n{self._queue.summary}"
                )
            )
        return [*found, *(_shown(entry.message, room) for entry in self._queue.entries)]

    def _messages(self, room: int) -> list[Message]:
        """Return what fits: of a turn that is too long by itself, each message is cut further."""
        shown = self._with_summary(room)
        limit = room
        while sum(map(_tokens, shown)) > room and limit > _LEAST // 8:
            limit = limit * 3 // 4
            shown = self._with_summary(limit)
        return shown

    def _used(self, room: int) -> int:
        return sum(map(_tokens, self._with_summary(room)))

    def _too_many(self) -> bool:
        return 0 < self._most < len(self._queue.entries)

    def _evict(self, room: int) -> None:
        """Take the oldest messages out, until the rest fills half of the room.

        A turn goes as a whole, but the last one where it is too long by itself; even there a result
        stays with its call.
        """
        entries = self._queue.entries
        sizes = [_tokens(_shown(entry.message, room)) for entry in entries]
        turns = [n for n, each in enumerate(entries) if isinstance(each.message, UserPrompt)]
        share = self.budget.share("summary")
        if turns and sum(sizes[turns[-1] :]) <= room - share:
            keep = turns[-1]
        else:
            answers = [n for n, each in enumerate(entries) if isinstance(each.message, ModelAnswer)]
            keep = answers[-1] if answers else 0
        most = max(1, self._most // 2) if self._too_many() else len(entries)
        for start in [start for start in reversed(turns) if start < keep]:
            if sum(sizes[start:]) > _KEPT * room - share or len(entries) - start > most:
                break
            keep = start
        if not keep:
            return
        self._flush()
        gone = [entry.message for entry in entries[:keep]]
        summary = self._summaries.rewritten(self._queue.summary, gone, int(share / self._off))
        self._queue.evict(keep, summary)
        self._warned = False


def _shown(message: Message, room: int) -> Message:
    """Return a message no longer than one may be."""
    limit = int(_LONGEST[type(message)] * room)
    if len(message.text) <= limit:  # a token has a character at least, near enough
        return message
    text = budgets.cut_middle(message.text, limit)
    return message if text == message.text else replace(message, text=text)


def _tokens(message: Message) -> int:
    """Return the tokens of a message, about."""
    count = _estimated(message.text) + _EACH
    if isinstance(message, ModelAnswer):
        given = [[call.name, call.arguments, call.id] for call in message.calls]
        count += estimate(json.dumps(given)) + _EACH * len(given) if given else 0
    return count
