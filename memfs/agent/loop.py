"""One turn of the user: the model is asked, its calls are done, until it has nothing to call.

With `heartbeats` the turn goes on after calls only where one asked for it (`request_heartbeat`), or
could not be done: then the model is told why, and asked again, a few times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from memfs.agent.model import ModelRequest, TokenUsage, UserPrompt
from memfs.tools import calls

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memfs.agent.model import Message, Model, ModelAnswer, Tell
    from memfs.tools.calls import Result
    from memfs.tools.definition import Tool
    from memfs.tools.tool_context import ToolContext

STEPS = 16  # answers for one turn at most
RETRIES = 3  # answers in a row with calls that cannot be done


class Dialogue(Protocol):
    """What a model is shown of what was said."""

    def add(self, message: Message) -> None:
        """Take what was said."""

    def request(self) -> ModelRequest:
        """Return what the model is to be asked now."""

    def answered(self, request: ModelRequest, answer: ModelAnswer) -> None:
        """Learn from an answer: how many tokens the request had, for one."""


class FullTranscript:
    """A conversation that is shown whole behind `system`; nothing is learnt from an answer.

    `most` is what an answer may have in tokens, 0 for whatever the endpoint allows.
    """

    def __init__(self, tools: Sequence[Tool], system: str = "", most: int = 0) -> None:
        self.system = system
        self._tools, self._most = tools, most
        self._messages: list[Message] = []

    def add(self, message: Message) -> None:
        """Take what was said."""
        self._messages.append(message)

    def request(self) -> ModelRequest:
        """Return what the model is to be asked now."""
        return ModelRequest(self.system, self._messages, self._tools, self._most)

    def answered(self, request: ModelRequest, answer: ModelAnswer) -> None:
        """Nothing is learnt from it."""


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


def turn(
    model: Model,
    context: ToolContext,
    tools: Mapping[str, Tool],
    talk: Dialogue,
    said: str,
    rules: LoopLimits,
    tell: Tell | None = None,
    did: Callable[[Result], object] = lambda _: None,
) -> AgentTurn:
    """Let the model answer what the user said. `did` is told of each call that was done."""
    talk.add(UserPrompt(said))
    done = refused = failures = 0
    usage = TokenUsage()
    text = ""
    for step in range(1, rules.steps + 1):
        request = talk.request()
        answer = model.ask(request, tell)
        talk.answered(request, answer)
        talk.add(answer)
        usage += answer.usage
        text = answer.text or text
        results: list[Result] = []
        for call in answer.calls:
            result = calls.run(context, tools, call)
            talk.add(result)
            did(result)
            results.append(result)
        wrong = [result for result in results if result.is_error]
        done, refused = done + len(results), refused + len(wrong)
        failures = failures + 1 if wrong else 0
        if failures > rules.retries:
            problem = f"the model's calls failed {failures} times in a row; the last: "
            return AgentTurn(text, step, done, refused, usage, problem + wrong[-1].text)
        if not (wrong or any(each.heartbeat or not rules.heartbeats for each in results)):
            return AgentTurn(text, step, done, refused, usage)
    problem = f"the model wanted to go on after {rules.steps} answers"
    return AgentTurn(text, rules.steps, done, refused, usage, problem)
