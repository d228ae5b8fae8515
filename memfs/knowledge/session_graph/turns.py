"""Turns: a prompt, what was done about it, and how that came out.

How it came out is told by what happened: tests that passed, a commit that was made, and what the
person said next. Where nothing tells, it is not known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memfs.knowledge.session_graph import intents

if TYPE_CHECKING:
    from memfs.core.records import Message

WORKED, UNKNOWN, FAILED = 1, 0, -1
_HEAD = 600  # characters of a text that are kept
_MOST_STEPS = 40
_CHECKS = ("test", "check", "build", "commit")  # calls whose result tells something
_TELLS = {"test": "tests", "check": "checks", "build": "the build", "commit": "a commit"}
_GOES_ON = ("correction", "problem", "approval")  # of what was wanted before


@dataclass
class OpenTurn:
    """One turn while it is read. `first` and `last` are numbers of messages in the session.

    `ident` is the id of the prompt, `last` the assistant's last word on it, 0 for none: what it
    said once a check had passed, not what it went on to (`settled`). `steps` are the kinds of tool
    calls, without repetition; a check that failed has `!`. `chain` is the number of the turn that
    began it: a correction goes on with what it corrects.
    """

    number: int
    first: int
    chain: int
    intent: str
    at: str = ""
    prompt: str = ""
    reply: str = ""
    last: int = 0
    outcome: int = UNKNOWN
    why: str = ""
    ident: str = ""
    settled: bool = False
    steps: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)  # checks whose result is not read yet

    def heard(self, message: Message, intent: str, number: int) -> None:
        """Go on with a message of the assistant, or of a tool."""
        if message.role == "assistant":
            if not self.settled:
                self.last, self.reply = number, message.text[:_HEAD]
            self.settled = self.outcome == WORKED
        elif message.tool in ("result", ""):
            self._result(intent == "failure")
        elif self.steps[-1:] != [intent] and len(self.steps) < _MOST_STEPS:
            self.steps.append(intent)
        if message.role == "tool" and intent in _CHECKS:
            self.waiting.append(intent)
        elif message.role == "tool" and message.tool not in ("result", ""):
            self.waiting.append("")

    def _result(self, failed: bool) -> None:
        check = self.waiting.pop(0) if self.waiting else ""
        if not check:
            return
        if failed:
            self.outcome, self.why, self.settled = FAILED, f"{_TELLS[check]} failed", False
            if self.steps and self.steps[-1] == check:
                self.steps[-1] = f"{check}!"
        else:
            said = "a commit was made" if check == "commit" else f"{_TELLS[check]} passed"
            self.outcome, self.why = WORKED, said
            self.settled = False

    def answered(self, intent: str) -> None:
        """Learn from what the person said next."""
        if intent == "thanks":
            self.outcome, self.why = WORKED, "the user thanked"
        elif intent == "correction":
            self.outcome, self.why = FAILED, "the user corrected it"

    def state(self) -> dict[str, object]:
        """Return it as plain JSON."""
        return vars(self)


def begin_turn(message: Message, intent: str, number: int, before: OpenTurn | None) -> OpenTurn:
    """Begin a turn with a prompt."""
    own = (before.number if before else 0) + 1
    goes_on = before is not None and intent in _GOES_ON and before.outcome != WORKED
    chain = before.chain if before is not None and goes_on else own
    return OpenTurn(own, number, chain, intent, message.at, message.text[:_HEAD], ident=message.id)


def intent_of(message: Message) -> str:
    """Return what a message is for."""
    return intents.classify_message(message.role, message.tool, message.text)
