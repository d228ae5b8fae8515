"""Facts found by the configured model, checked against a schema; else by rules."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import msgspec

from memfs.agent import configured_model
from memfs.agent.model import Model, ModelAnswer, ModelError, ModelRequest, UserPrompt
from memfs.context import window_budget
from memfs.core.escaping import quote_turn
from memfs.core.records import Fact, Message
from memfs.core.tokens import estimate
from memfs.knowledge.facts import prose
from memfs.knowledge.facts.prose import (
    CATEGORIES,
    add_source,
    clean_name,
    clean_names,
    drop_secrets,
)
from memfs.ops import facts as op
from memfs.ops.facts import Extracted
from memfs.recall.index_sources import Stage
from memfs.recall.own_words import own_words
from memfs.store import resources
from memfs.store.blocks import Place

_PART_TOKENS = 6000  # tokens of messages that are asked about at a time
_MESSAGE_TOKENS = 1500  # tokens of one message
_STATEMENT = 320  # characters
_JSON = re.compile(r"\{.*\}", re.DOTALL)
_TRIES = 2


class _Fact(msgspec.Struct):
    """A fact as a model is to answer it."""

    message: str | int  # as models write it: "1", 1 or "[1]"
    statement: str
    confidence: float
    category: str
    entities: list[str] = []
    relations: list[tuple[str, str, str]] = []
    key: str = ""
    over: list[str] = []
    personal: bool = False


class _Facts(msgspec.Struct):
    facts: list[_Fact]


def extract_as_configured(
    place: Place, stage: Stage = lambda *_: lambda _: None, *, by_model: bool | None = None
) -> tuple[Extracted, str]:
    """Extract facts by the configured model or by rules: None as `extraction_model` says.

    Returns them, and why the model was not asked. Raises `MemfsError` if there is no model.
    """
    if not (op.extract_by_model(place) if by_model is None else by_model):
        return op.extract(place, stage), ""
    with closing(configured_model.load_model()) as model:
        finder = _Asked(model)
        return op.extract(place, stage, finder.find), finder.note


class _Asked:
    """Finds facts in messages with a model. `note`: why it was not asked about all of them."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._system = resources.read_text("templates", "prompts", "facts.md").replace(
            "{categories}", ", ".join(CATEGORIES)
        )
        self.note = ""

    def find(self, messages: Sequence[Message], tick: Callable[[int], object]) -> list[Fact]:
        """Return the facts in messages; calls `tick` with the number of those done."""
        spoken = [m for m in map(_strip_quotations, messages) if m.text and not m.side]
        found: list[Fact] = []
        tick(len(messages) - len(spoken))
        for part in _split_messages(spoken):
            tick(len(part))
            try:
                found += self._ask_part(part)
            except ModelError as error:
                self.note = error.message
                found += prose.extract_facts(part)
        return sorted(drop_secrets(found), key=lambda fact: fact.at)

    def _ask_part(self, part: Sequence[Message]) -> list[Fact]:
        """Ask the model for facts; retry once if the JSON is invalid. Raises `ModelError`."""
        ids = {f"{number}": message for number, message in enumerate(part, 1)}
        text = "\n\n".join(
            quote_turn(f"[{ident}] {m.role}:", window_budget.cut_middle(m.text, _MESSAGE_TOKENS))
            for ident, m in ids.items()
        )
        dialogue: list[UserPrompt | ModelAnswer] = [UserPrompt(text)]
        for _ in range(_TRIES):
            answer = self._model.ask(ModelRequest(self._system, dialogue))
            try:
                match = _JSON.search(answer.text)
                parsed = msgspec.convert(json.loads(match[0] if match else ""), _Facts)
            except (ValueError, msgspec.ValidationError, RecursionError) as error:
                why = f"That is not the requested JSON: {error}. Answer with the JSON alone."
                dialogue += [answer, UserPrompt(why)]
                continue
            named = [(f"{each.message}".strip("[] "), each) for each in parsed.facts]
            return [
                add_source(_make_fact(each), ids[ident], self._model.name)
                for ident, each in named
                if ident in ids and _is_valid(each)
            ]
        raise ModelError(f"{self._model.name} did not answer with facts in valid JSON")


def _strip_quotations(message: Message) -> Message:
    """Return what a model is asked about: of a user's message their own words, of tools nothing."""
    if message.role == "user":
        return message._replace(text=own_words(message.text).strip())
    return message if message.role == "assistant" else message._replace(text="")


def _split_messages(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """Yield parts of the messages: each of one session, up to `_PART_TOKENS`."""
    part: list[Message] = []
    used = 0
    for message in messages:
        tokens = min(_MESSAGE_TOKENS, estimate(message.text)) + 8
        new = bool(part) and (part[-1].host, part[-1].session) != (message.host, message.session)
        if part and (new or used + tokens > _PART_TOKENS):
            yield part
            part, used = [], 0
        part.append(message)
        used += tokens
    if part:
        yield part


def _is_valid(each: _Fact) -> bool:
    return (
        0 <= each.confidence <= 1
        and each.category in CATEGORIES
        and 0 < len(each.statement.strip()) <= _STATEMENT
    )


def _make_fact(each: _Fact) -> Fact:
    text = " ".join(each.statement.split()).rstrip(".!")
    return Fact(
        "",
        text,
        round(each.confidence, 2),
        each.category,
        clean_names(each.entities),
        tuple(
            (clean_name(source), how, clean_name(target)) for source, how, target in each.relations
        ),
        " ".join(each.key.lower().split()),
        tuple(word.lower() for word in each.over),
        personal=each.personal,
    )
