"""One turn of the user: the model is asked, its calls are done, until it has nothing to call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.agent.model import Prompt, Usage
from memfs.tools import calls

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memfs.agent.model import Message, Model
    from memfs.tools.definition import Tool
    from memfs.tools.desk import Desk

STEPS = 16  # answers for one turn at most


@dataclass(frozen=True)
class Turn:
    """How a turn went. `ended` is False where the model still wanted to call after all its steps.

    `refused` counts the calls that could not be done; the model was told why.
    """

    text: str
    steps: int
    calls: int
    refused: int
    usage: Usage
    ended: bool


def turn(
    model: Model, desk: Desk, tools: Mapping[str, Tool], system: str, messages: list[Message],
    said: str, steps: int = STEPS,
) -> Turn:  # fmt: skip
    """Let the model answer what the user said; `messages` grow by all that is said and done."""
    messages.append(Prompt(said))
    done = refused = 0
    usage = Usage()
    text = ""
    for step in range(1, steps + 1):
        answer = model.ask(system, messages, list(tools.values()))
        messages.append(answer)
        usage += answer.usage
        text = answer.text or text
        if not answer.calls:
            return Turn(text, step, done, refused, usage, ended=True)
        for call in answer.calls:
            result = calls.run(desk, tools, call)
            messages.append(result)
            done += 1
            refused += result.is_error
    return Turn(text, steps, done, refused, usage, ended=False)
