"""One turn of the user: the model is asked, its calls are done, until it has nothing to call.

With `heartbeats` the turn goes on after calls only where one asked for it (`request_heartbeat`), or
could not be done: then the model is told why, and asked again, a few times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from memfs.agent.model import (
    Message,
    Model,
    ModelAnswer,
    ModelRequest,
    Tell,
    TokenUsage,
    UserPrompt,
)
from memfs.tools import calls
from memfs.tools.calls import Result
from memfs.tools.definition import Tool
from memfs.tools.tool_context import ToolContext

STEPS = 16  # answers for one turn at most
RETRIES = 3  # answers in a row with calls that cannot be done


class Dialogue(Protocol):
    """The messages of a conversation, and the requests made of them."""

    def add(self, message: Message) -> None:
        """Append a message."""

    def request(self) -> ModelRequest:
        """Return the next request to the model."""

    def record_usage(self, request: ModelRequest, answer: ModelAnswer) -> None:
        """Take note of an answer's usage, such as the tokens of its request."""


class FullTranscript:
    """A conversation that is shown whole behind `system`; nothing is learnt from an answer.

    `most` is what an answer may have in tokens, 0 for whatever the endpoint allows.
    """

    def __init__(self, tools: Sequence[Tool], system: str = "", most: int = 0) -> None:
        self.system = system
        self._tools, self._most = tools, most
        self._messages: list[Message] = []

    def add(self, message: Message) -> None:
        """Append a message."""
        self._messages.append(message)

    def request(self) -> ModelRequest:
        """Return the next request to the model."""
        return ModelRequest(self.system, self._messages, self._tools, self._most)

    def record_usage(self, request: ModelRequest, answer: ModelAnswer) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class LoopLimits:
    """How far a turn goes: answers, answers in a row with bad calls, and whether calls chain."""

    steps: int = STEPS
    retries: int = RETRIES
    heartbeats: bool = True


@dataclass(frozen=True)
class AgentTurn:
    """How a turn went. `problem` says why it was broken off, "" where it ended by itself.

    `refused` counts the calls that could not be done; the model was told why.
    """

    text: str
    steps: int
    calls: int
    refused: int
    usage: TokenUsage
    problem: str = ""

    @property
    def ended(self) -> bool:
        return not self.problem


def run_turn(
    model: Model,
    context: ToolContext,
    tools: Mapping[str, Tool],
    dialogue: Dialogue,
    prompt: str,
    rules: LoopLimits,
    tell: Tell | None = None,
    on_result: Callable[[Result], object] = lambda _: None,
) -> AgentTurn:
    """Let the model answer a prompt. `on_result` gets the result of each call."""
    dialogue.add(UserPrompt(prompt))
    count = refused = failures = 0
    usage = TokenUsage()
    text = ""
    for step in range(1, rules.steps + 1):
        request = dialogue.request()
        answer = model.ask(request, tell)
        dialogue.record_usage(request, answer)
        dialogue.add(answer)
        usage += answer.usage
        text = answer.text or text
        results: list[Result] = []
        for call in answer.calls:
            result = calls.run(context, tools, call)
            dialogue.add(result)
            on_result(result)
            results.append(result)
        failed = [result for result in results if result.is_error]
        count, refused = count + len(results), refused + len(failed)
        failures = failures + 1 if failed else 0
        if failures > rules.retries:
            problem = f"the model's calls failed {failures} times in a row; the last: "
            return AgentTurn(text, step, count, refused, usage, problem + failed[-1].text)
        if not (failed or any(each.heartbeat or not rules.heartbeats for each in results)):
            return AgentTurn(text, step, count, refused, usage)
    problem = f"the model wanted to go on after {rules.steps} answers"
    return AgentTurn(text, rules.steps, count, refused, usage, problem)
