"""One turn of the user: the model is asked, and its calls are done, until the user has an answer.

The turn ends with a text for the user. After calls it goes on where one asked for it
(`request_heartbeat`), read something, or could not be done, and where the user was told nothing
yet. A model that comes to no end is asked once more, without tools, so that the user has an answer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memfs.agent.model import (
    Message,
    Model,
    ModelAnswer,
    ModelRequest,
    SystemNote,
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
_SAME = 3  # times that a call may give the same, before the model has to answer
_REPEATED = (
    "The same call gave the same result before, see above. Search with other words, or answer from "
    "the blocks above."
)
_FAILED_BEFORE = (
    "The same call failed in the same way before. Change what the error names, or answer without "
    "this call."
)
_CLOSING = (
    "No tool can be called any more in this turn. Answer the user now, in text, with what you know "
    "from the blocks and results above."
)


class Dialogue:
    """A conversation that is shown whole behind `system`.

    `most` is what an answer may have in tokens, 0 for whatever the endpoint allows.
    """

    def __init__(self, tools: Sequence[Tool], system: str = "", most: int = 0) -> None:
        self._tools, self._system, self._most = tools, system, most
        self._messages: list[Message] = []

    def add(self, message: Message) -> None:
        """Append a message."""
        self._messages.append(message)

    def request(self) -> ModelRequest:
        """Return the next request to the model."""
        return ModelRequest(self._system, self._messages, self._tools, self._most)

    def record_usage(self, request: ModelRequest, answer: ModelAnswer) -> None:
        """Take note of an answer's usage, such as the tokens of its request."""


@dataclass(frozen=True)
class LoopLimits:
    """How far a turn goes: answers, and answers in a row with calls that cannot be done."""

    steps: int = STEPS
    retries: int = RETRIES


@dataclass(frozen=True)
class AgentTurn:
    """How a turn went. `problem` says why it was broken off, "" where it ended by itself.

    `refused` counts the calls that could not be done; the model was told why.
    """

    text: str = ""
    steps: int = 0
    calls: int = 0
    refused: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)
    problem: str = ""

    @property
    def ended(self) -> bool:
        return not self.problem

    def add(self, answer: ModelAnswer, calls: int = 0, refused: int = 0) -> AgentTurn:
        """Return the turn with one more answer; where it has no text, that of the one before."""
        text = answer.text if answer.text.strip() else self.text
        counts = (self.steps + 1, self.calls + calls, self.refused + refused)
        return AgentTurn(text, *counts, self.usage + answer.usage, self.problem)


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
    turn, failures, problem, is_told = AgentTurn(), 0, "", False
    seen = Counter[str]()
    while not problem and max(seen.values(), default=0) < _SAME:
        request = dialogue.request()
        answer = model.ask(request, tell)
        dialogue.record_usage(request, answer)
        if answer.text.strip() or answer.calls:
            dialogue.add(answer)
        results = []
        for call in answer.calls:
            found = calls.run(context, tools, call)
            results.append(_note_repetition(found, seen, request.messages))
            dialogue.add(results[-1])
            on_result(results[-1])
        failed = [result for result in results if result.is_error]
        turn = turn.add(answer, len(results), len(failed))
        # What was said before the last look is no answer.
        is_told = is_told or bool(answer.text.strip())
        is_told = is_told and not any(_needs_answer(tools, result) for result in results)
        if is_told:
            return turn
        failures = failures + 1 if failed else 0
        if failures > rules.retries:
            problem = f"the model's tool calls failed {failures} times in a row; the last result: "
            problem += failed[-1].text
        elif not results:
            break
        elif turn.steps >= rules.steps:
            problem = f"the model did not finish after {rules.steps} answers"
    return _close(model, dialogue, replace(turn, problem=problem), tell)


def _needs_answer(tools: Mapping[str, Tool], result: Result) -> bool:
    """Return whether the model has to see a result before the turn can end."""
    if result.heartbeat or result.is_error:
        return True
    return tools[result.call.name].effect == "read"


def _note_repetition(result: Result, seen: Counter[str], messages: Sequence[Message]) -> Result:
    """Count a call with its answer in `seen`; one that still stands in messages gives a note."""
    key = json.dumps([result.call.name, result.call.arguments, result.text], sort_keys=True)
    seen[key] += 1
    stands = any(isinstance(each, Result) and each.text == result.text for each in messages)
    if seen[key] == 1 or not (stands or result.is_error):
        return result
    failed = f"{result.text}\n{_FAILED_BEFORE}"
    return replace(result, text=failed if result.is_error else _REPEATED)


def _close(model: Model, dialogue: Dialogue, turn: AgentTurn, tell: Tell | None) -> AgentTurn:
    """Ask for an answer to the user once more, without tools; what it calls is not done."""
    request = dialogue.request()
    request = replace(request, messages=[*request.messages, SystemNote(_CLOSING)], tools=())
    answer = replace(model.ask(request, tell), calls=())
    if answer.text.strip():
        dialogue.add(answer)
    turn = turn.add(answer)
    missing = "" if turn.text else "the model did not answer with text"
    return replace(turn, problem=turn.problem or missing)
