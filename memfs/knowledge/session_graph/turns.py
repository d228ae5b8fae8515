"""Turns: a prompt, the steps after it, and their outcome (by checks, commits, the next message)."""

from dataclasses import dataclass, field

from memfs.core.records import Message

WORKED, UNKNOWN, FAILED = 1, 0, -1
_HEAD = 600  # characters of a text that are stored
_MOST_STEPS = 40
_CHECKS = ("test", "check", "build", "commit")  # calls whose result decides the outcome
_TELLS = {"test": "tests", "check": "checks", "build": "the build", "commit": "a commit"}
_GOES_ON = ("correction", "problem", "approval")  # intents that continue the previous request


@dataclass(frozen=True)
class Flow:
    """One turn of a past session: its prompt, its steps, and its outcome.

    `steps` are kinds of tool calls, a failed check with `!`. `outcome` is 1 (it worked), 0
    (unknown) or -1 (it failed), `why` the evidence for it. `relevance` is 0 to 1.
    """

    id: int
    session: str
    host: str
    project: str
    number: int
    at: str
    intent: str
    prompt: str
    reply: str
    steps: tuple[str, ...]
    outcome: int
    why: str
    relevance: float = 0.0


@dataclass(frozen=True)
class Pattern:
    """A recurring sequence of steps, with the numbers of turns that have it, worked and failed."""

    steps: tuple[str, ...]
    turns: int
    worked: int
    failed: int


@dataclass(frozen=True)
class Step:
    """A next step: its share of similar flows, and the number of those that worked."""

    name: str
    share: float
    worked: int


@dataclass(frozen=True)
class GraphEdge:
    """One edge; nodes are `message:ID` or `topic:NAME`."""

    source: str
    target: str
    type: str
    weight: float


@dataclass
class OpenTurn:
    """One turn while it is read. `first` and `last` are numbers of messages in the session.

    `ident` is the id of the prompt, `last` the assistant's final reply to it, 0 for none: the first
    one after a check passed (`settled`). `steps` are the kinds of tool calls, without repetition;
    a failed check has `!`. `chain` is the number of the first turn of a request: a correction
    continues the turn that it corrects.
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

    def add_message(self, message: Message, intent: str, number: int) -> None:
        if message.role == "assistant":
            if not self.settled:
                self.last, self.reply = number, message.text[:_HEAD]
            self.settled = self.outcome == WORKED
        elif message.tool in ("result", ""):
            self._add_result(intent == "failure")
        elif self.steps[-1:] != [intent] and len(self.steps) < _MOST_STEPS:
            self.steps.append(intent)
        if message.role == "tool" and intent in _CHECKS:
            self.waiting.append(intent)
        elif message.role == "tool" and message.tool not in ("result", ""):
            self.waiting.append("")

    def _add_result(self, failed: bool) -> None:
        check = self.waiting.pop(0) if self.waiting else ""
        if not check:
            return
        if failed:
            self.outcome, self.why, self.settled = FAILED, f"{_TELLS[check]} failed", False
            if self.steps and self.steps[-1] == check:
                self.steps[-1] = f"{check}!"
        else:
            reason = "a commit was made" if check == "commit" else f"{_TELLS[check]} passed"
            self.outcome, self.why = WORKED, reason
            self.settled = False

    def apply_reaction(self, intent: str, message: Message) -> None:
        """Set the outcome from the next message: confirmation, thanks, correction, sentiment."""
        from memfs.knowledge.session_graph import intents  # with the engine, which values need not

        text = message.text
        sentiment = message.sentiment or intents.classify_sentiment(text)
        if intents.is_confirmed(text):
            self.outcome, self.why = WORKED, "the user said that it works"
        elif intent == "thanks":
            self.outcome, self.why = WORKED, "the user said thanks"
        elif intent == "correction":
            self.outcome, self.why = FAILED, "the user corrected the result"
        elif sentiment == "positive":
            self.outcome, self.why = WORKED, "the user was satisfied"
        elif sentiment == "negative":
            self.outcome, self.why = FAILED, "the user was not satisfied"


def begin_turn(message: Message, intent: str, number: int, before: OpenTurn | None) -> OpenTurn:
    """Make the turn of a prompt; it may continue the chain of the one `before`."""
    own = (before.number if before else 0) + 1
    goes_on = before is not None and intent in _GOES_ON and before.outcome != WORKED
    chain = before.chain if before is not None and goes_on else own
    return OpenTurn(own, number, chain, intent, message.at, message.text[:_HEAD], ident=message.id)
