"""The recursive summary: rewritten from the former one and the messages that are evicted.

The model writes it, where it can be asked; else it is made of sentences of the messages, and says
so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memfs.agent.model import (
    Message,
    Model,
    ModelAnswer,
    ModelError,
    ModelRequest,
    SystemNote,
    UserPrompt,
)
from memfs.agent.queue import clean_arguments
from memfs.context import summary, window_budget
from memfs.core.escaping import quote_turn
from memfs.core.privacy import storable
from memfs.core.tokens import estimate
from memfs.store import resources
from memfs.tools.calls import Result

EXTRACTED = "(Sentences taken from the messages; no model wrote this.)"
_LONGEST = 600  # tokens of one message, for a summary
_WORDS = 0.6  # of them make a token


class Summaries:
    """Writes summaries with a model whose prompt may have `room` tokens; None: without one."""

    def __init__(self, model: Model | None, room: int) -> None:
        self._model, self._room = model, room

    def rewrite(self, before: str, evicted: Sequence[Message], share: int) -> str:
        """Return the summary of `before` and the evicted messages, in `share` tokens."""
        before, evicted = storable(before), list(map(_clean_message, evicted))
        if self._model is not None:
            try:
                return self._ask_model(self._model, before, evicted, share)
            except ModelError:
                pass  # the messages are in recall; the conversation goes on
        former = before.removeprefix(EXTRACTED).strip()
        lines = [f"{who} {text}" for message in evicted for who, text in _list_turns(message)]
        text = "\n".join(filter(None, (former, *lines)))
        return f"{EXTRACTED}\n{summary.extract(text, share - estimate(EXTRACTED) - 1)}"

    def _ask_model(self, model: Model, before: str, evicted: Sequence[Message], share: int) -> str:
        words = str(max(20, int(share * _WORDS)))
        system = resources.read_text("templates", "prompts", "summary.md").replace("{words}", words)
        room = self._room - estimate(system) - 2 * share
        found = before
        for part in _split_messages(evicted, max(room, share)):
            prompt = f"The summary so far:\n{found or '(none)'}\n\nThe messages:\n{part}"
            answer = model.ask(ModelRequest(system, [UserPrompt(prompt)], (), share))
            if not answer.text.strip():
                raise ModelError("the model wrote no summary")
            found = _fit_summary(answer.text.strip(), share)
        return found


def _clean_message(message: Message) -> Message:
    """Return a message without secrets: a summary is stored."""
    if isinstance(message, ModelAnswer):
        calls = tuple(replace(c, arguments=clean_arguments(c.arguments)) for c in message.calls)
        return replace(message, text=storable(message.text), calls=calls)
    return replace(message, text=storable(message.text))


def _fit_summary(text: str, share: int) -> str:
    """Shorten a summary to its share: its most relevant sentences, if it is too long."""
    if estimate(text) <= share:
        return text
    return summary.extract(text, share) or window_budget.cut_middle(text, share)


def _split_messages(evicted: Sequence[Message], room: int) -> Iterator[str]:
    """Yield the messages as texts of at most `room` tokens.

    Every line of a message is quoted: none can be taken for the beginning of another.
    """
    lines: list[str] = []
    used = 0
    for who, text in [turn for message in evicted for turn in _list_turns(message)]:
        line = quote_turn(who, window_budget.cut_middle(text, min(_LONGEST, room)))
        if lines and used + estimate(line) > room:
            yield "\n".join(lines)
            lines, used = [], 0
        lines.append(line)
        used += estimate(line) + 1
    if lines:
        yield "\n".join(lines)


def _list_turns(message: Message) -> list[tuple[str, str]]:
    """Return (speaker, text) for each part of a message."""
    match message:
        case UserPrompt():
            return [("user:", message.text)]
        case ModelAnswer():
            called = ", ".join(f"{c.name} {json.dumps(c.arguments)}" for c in message.calls)
            turns = [("assistant:", message.text), ("assistant calls", called)]
            return [(who, text) for who, text in turns if text]
        case Result():
            return [(f"{message.call.name} answers:", message.text)]
        case SystemNote():
            return []
