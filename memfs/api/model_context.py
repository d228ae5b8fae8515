"""The context and the review of a program that has a model of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memfs.context import brief_contents, window_budget
from memfs.core.records import Message
from memfs.core.tokens import estimate
from memfs.store import config, resources
from memfs.store.blocks import Place


class OpenMemory(Protocol):
    """What `memfs.open` returns."""

    @property
    def place(self) -> Place:
        """Where this memory is."""


@dataclass(frozen=True)
class AssembledContext:
    """A prompt: the system text with the blocks, and the latest messages that fit.

    `tokens` is what both take; `available` is left of the window for the answer and its calls.
    """

    system: str
    messages: tuple[Message, ...]
    tokens: int
    available: int


class ContextAssembler:
    """Composes prompts within a window: guidance, blocks, and the latest messages.

    `memory` is what `memfs.open` returns, or its `place`. `window` is in tokens, 0 for
    `context.max_tokens`. Raises `UsageError` for one too small.
    """

    def __init__(self, memory: Place | OpenMemory, window: int = 0) -> None:
        self._place = place = memory if isinstance(memory, Place) else memory.place
        settings = config.load(place)
        self._budget = window_budget.load_budget(settings, window)
        self._most = settings.number("context.message_history_limit")

    def assemble(self, messages: Sequence[Message] = ()) -> AssembledContext:
        """Compose the next prompt; the earliest messages are left out where they do not fit."""
        share = self._budget.get_share("blocks")
        system = brief_contents.compose_within(self._place, share, tools=True)
        used = estimate(system)
        shown: list[Message] = []
        for message in reversed(messages[-self._most :]):
            tokens = estimate(message.text)
            if used + tokens > self._budget.room:
                break
            used += tokens
            shown.append(message)
        return AssembledContext(system, tuple(reversed(shown)), used, self._budget.window - used)


class SessionReviewer:
    """Writes the prompt by which a model saves what a conversation missed to save."""

    def __init__(self, memory: Place | OpenMemory) -> None:
        self._place = memory if isinstance(memory, Place) else memory.place

    def should_review(self, messages: Sequence[Message], min_messages: int = 0) -> bool:
        """Return whether the user said enough: `min_messages`, 0 for `review.min_messages`."""
        least = min_messages or config.load(self._place).number("review.min_messages")
        return sum(message.role == "user" for message in messages) >= max(1, least)

    def format_conversation(self, messages: Sequence[Message], room: int = 0) -> str:
        """Return the conversation as text, of at most `room` tokens (0: the room of the window)."""
        most = room or window_budget.load_budget(config.load(self._place)).room
        return window_budget.format_transcript(messages, most)

    def get_review_prompt(self, messages: Sequence[Message]) -> str:
        """Return the prompt for one more turn of a model: the memory, and the conversation."""
        prompt = resources.read_text("templates", "prompts", "background.md")
        memory = brief_contents.compose_brief(self._place, tools=True)[0]
        return f"{memory}\n\n{prompt.replace('{conversation}', self.format_conversation(messages))}"
