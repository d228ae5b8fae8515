"""A model reviews messages, behind the brief, and saves what they missed with its tools."""

from __future__ import annotations

from collections.abc import Sequence

from memfs.agent import loop
from memfs.agent.model import Model
from memfs.context import brief_contents
from memfs.context import window_budget as budgets
from memfs.core.escaping import quote_turn
from memfs.core.records import Message
from memfs.core.tokens import estimate
from memfs.store import config
from memfs.store.blocks import Place
from memfs.tools import registry, tool_budget
from memfs.tools.tool_context import ToolContext

_TOOL_TOKENS = 200  # tokens of a tool's message
_MESSAGE_TOKENS = 1500  # tokens of any other message
_TRANSCRIPT_SHARE = 0.75  # of the room; the rest is for the model's calls
_MARGIN = 1.15  # by which an endpoint may count more than we do
_EDITS = (
    "core_memory_read core_memory_append core_memory_replace core_memory_remove memory_create "
    "memory_rethink archival_memory_insert archival_memory_search"
).split()


def converse(
    place: Place, context: ToolContext, model: Model, prompt: str, messages: Sequence[Message]
) -> loop.AgentTurn:
    """Let a model review messages, with the tools for editing memory."""
    settings = config.load(place)
    tools = {n: t for n, t in registry.offer_tools(context).tools.items() if n in _EDITS}
    budget = budgets.load_budget(settings)
    system = brief_contents.compose_within(place, budget.get_share("blocks"), tools=True)
    offered = tool_budget.fit_tools(list(tools.values()), budget.get_share("tools"))
    free = budget.room - estimate(system) - tool_budget.tokens(offered)
    room = int(free * _TRANSCRIPT_SHARE / _MARGIN) - estimate(prompt)
    text = prompt.replace("{conversation}", format_transcript(messages, room))
    dialogue = loop.FullTranscript(offered, system, budget.response)
    rules = loop.LoopLimits(
        settings.number("llm.max_steps"), settings.number("llm.max_retries"), heartbeats=False
    )
    return loop.run_turn(model, context, tools, dialogue, text, rules)


def format_transcript(messages: Sequence[Message], room: int) -> str:
    """Return a conversation as text of at most `room` tokens: its end, if it is too long.

    Every line of a message is quoted: none can be taken for the beginning of another.
    """
    lines: list[str] = []
    left = room
    for count, message in enumerate(reversed(messages)):
        tool = message.role == "tool"
        most = _TOOL_TOKENS if tool else _MESSAGE_TOKENS
        who = f"TOOL {message.tool}" if tool else message.role.upper()
        text = budgets.cut_middle(message.text, most)
        line = quote_turn(f"[{who}]:", text)
        left -= estimate(line) + 2
        if left < 0:
            lines.append(f"[{len(messages) - count:,} earlier messages are left out]")
            break
        lines.append(line)
    return "\n\n".join(reversed(lines))
