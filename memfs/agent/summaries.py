"""The recursive summary: rewritten from the former one and the messages that are evicted.

The model writes it, where it can be asked; else it is made of sentences of the messages, and says
so.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from memfs.agent.model import ModelAnswer, ModelError, ModelRequest, SystemNote, UserPrompt
from memfs.agent.queue import clean_arguments
from memfs.context import budget, summary
from memfs.core.escaping import quote_turn
from memfs.core.privacy import storable
from memfs.core.tokens import estimate
from memfs.store import resources
from memfs.tools.calls import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memfs.agent.model import Message, Model

EXTRACTED = "(Sentences taken from the messages; no model wrote this.)"
_LONGEST = 600  # tokens of one message, for a summary
_WORDS = 0.6  # of them make a token


class Summaries:
    """Writes summaries with a model whose prompt may have `room` tokens; None: without one."""

    def __init__(self, model: Model | None, room: int) -> None:
        self._model, self._room = model, room

    def rewritten(self, before: str, gone: Sequence[Message], share: int) -> str:
        """Return the summary of what `before` summarises and of what is gone, in `share` tokens."""
        before, gone = storable(before), list(map(_storable, gone))
        if self._model is not None:
            try:
                return self._written(self._model, before, gone, share)
            except ModelError:
                pass  # the messages are in recall; the conversation goes on
        former = before.removeprefix(EXTRACTED).strip()
        said = [f"{who} {text}" for message in gone for who, text in _turns(message)]
        text = "\n".join(filter(None, (former, *said)))
        return f"{EXTRACTED}\n{summary.extract(text, share - estimate(EXTRACTED) - 1)}"

    def _written(self, model: Model, before: str, gone: Sequence[Message], share: int) -> str:
        words = str(max(20, int(share * _WORDS)))
        system = resources.read_text("templates", "prompts", "summary.md").replace("{words}", words)
        room = self._room - estimate(system) - 2 * share
        found = before
        for part in _parts(gone, max(room, share)):
            said = f"The summary so far:\n{found or '(none)'}\n\nThe messages:\n{part}"
            answer = model.ask(ModelRequest(system, [UserPrompt(said)], (), share))
            if not answer.text.strip():
                raise ModelError("the model wrote no summary")
            found = _fitting(answer.text.strip(), share)
        return found


def _storable(message: Message) -> Message:
    """Return a message as it may be written down: a summary is."""
    if isinstance(message, ModelAnswer):
        calls = tuple(replace(c, arguments=clean_arguments(c.arguments)) for c in message.calls)
        return replace(message, text=storable(message.text), calls=calls)
    return replace(message, text=storable(message.text))


def _fitting(text: str, share: int) -> str:
    """Keep a summary that came out too long to its share: its most telling sentences."""
    if estimate(text) <= share:
        return text
    return summary.extract(text, share) or budget.cut_middle(text, share)


def _parts(gone: Sequence[Message], room: int) -> Iterator[str]:
    """Yield the messages as text, as many at a time as there is room for.

    Every line of a message is quoted: none can be taken for the beginning of another.
    """
    lines: list[str] = []
    used = 0
    for who, text in [turn for message in gone for turn in _turns(message)]:
        line = quote_turn(who, budget.cut_middle(text, min(_LONGEST, room)))
        if lines and used + estimate(line) > room:
            yield "\n".join(lines)
            lines, used = [], 0
        lines.append(line)
        used += estimate(line) + 1
    if lines:
        yield "\n".join(lines)


def _turns(message: Message) -> list[tuple[str, str]]:
    """Return who says what in a message."""
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
