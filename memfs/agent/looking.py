"""A model looks over what was said, behind the brief, and saves what was missed with its tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.agent import loop
from memfs.agent.model import Request
from memfs.context import budget as budgets
from memfs.context import compose, pulled
from memfs.core.tokens import estimate
from memfs.store import config
from memfs.tools import fitted, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.agent.model import Answer, Message, Model
    from memfs.core.records import Message as Said
    from memfs.store.blocks import Place
    from memfs.tools.definition import Tool
    from memfs.tools.desk import Desk

_TOOL_SHOWN = 200  # tokens of what a tool said
_SHOWN = 1500  # tokens of what was said otherwise
_MARGIN = 1.15  # by which an endpoint may count more than we do
_EDITS = ("core_memory_read", "core_memory_append", "core_memory_replace", "core_memory_remove",
          "memory_create", "memory_rethink", "archival_memory_insert",
          "archival_memory_search")  # fmt: skip


def converse(
    place: Place, desk: Desk, model: Model, prompt: str, said: Sequence[Said]
) -> loop.Turn:  # fmt: skip
    """Let a model look over what was said, with the tools for editing memory."""
    settings = config.load(place)
    tools = {n: t for n, t in table.offered(desk).tools.items() if n in _EDITS}
    talk = _Talk(place, list(tools.values()))
    room = int(talk.room / _MARGIN) - estimate(prompt)
    text = prompt.replace("{conversation}", transcript(said, room))
    rules = loop.Rules(
        settings.number("llm.max_steps"), settings.number("llm.max_retries"), heartbeats=False
    )
    return loop.turn(model, desk, tools, talk, text, rules)


class _Talk:
    """A conversation of one prompt and the calls that follow it, behind the brief."""

    def __init__(self, place: Place, tools: Sequence[Tool]) -> None:
        budget = budgets.configured(config.load(place))
        held = pulled.look(place, note=False).held
        self._system = compose.within(place, held, budget.share("blocks"), tools=True)
        self._tools = fitted.fitted(list(tools), budget.share("tools"))
        self._most = budget.response
        self._messages: list[Message] = []
        used = estimate(self._system) + fitted.tokens(self._tools)
        self.room = (budget.room - used) * 3 // 4  # the rest is for its calls

    def add(self, message: Message) -> None:
        """Take what was said."""
        self._messages.append(message)

    def request(self) -> Request:
        """Return what the model is to be asked now."""
        return Request(self._system, self._messages, self._tools, self._most)

    def answered(self, request: Request, answer: Answer) -> None:
        """Nothing is learnt from it."""


def transcript(said: Sequence[Said], room: int) -> str:
    """Return a conversation as text; of one too long for its room, the end, and how much is cut.

    Every line of a message is quoted: none can be taken for the beginning of another.
    """
    lines: list[str] = []
    left = room
    for count, message in enumerate(reversed(said)):
        tool = message.role == "tool"
        most = _TOOL_SHOWN if tool else _SHOWN
        who = f"TOOL {message.tool}" if tool else message.role.upper()
        text = budgets.cut(message.text, most)
        line = f"[{who}]:\n" + "\n".join(f"> {each}" for each in text.splitlines())
        left -= estimate(line) + 2
        if left < 0:
            lines.append(f"[{len(said) - count:,} earlier messages are left out]")
            break
        lines.append(line)
    return "\n\n".join(reversed(lines))
