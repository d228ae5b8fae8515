"""Scripted conversations: what is in memory before, what the user says, and what must hold after.

They are YAML files of one kind each: those of `templates/eval`, or a folder of the user's own.
"""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NoReturn, get_args

from memfs.agent.expectations import Expectation, SavedWords
from memfs.core import label as labels
from memfs.core import yaml_edit
from memfs.core.errors import UsageError
from memfs.files import outside
from memfs.store import resources

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["personal", "preference", "decision", "detail", "topic", "trivia", "forbidden"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_LARGEST = 1 << 20  # characters of a file
_EXPECTED = ("saved", "gone", "never", "untouched")


@dataclass(frozen=True)
class InitialBlock:
    """A block that is there before a conversation; a default one keeps its description."""

    value: str
    description: str = ""


@dataclass(frozen=True)
class ScriptedConversation:
    """One conversation, as it stands in its file."""

    name: str
    kind: Kind
    turns: tuple[str, ...]
    expected: Expectation
    blocks: Mapping[str, InitialBlock] = field(default_factory=dict)


def load(folder: str = "") -> list[ScriptedConversation]:
    """Read all conversations of a folder, or those that ship with memfs.

    Raises `MemfsError` (usage) that names the file and the key for what is wrong in one.
    """
    folder = folder or resources.path("templates", "eval")
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith((".yaml", ".yml")))
    except OSError as error:
        raise UsageError(f"cannot read {folder}: {error.strerror}") from error
    if not names:
        raise UsageError(f"there are no conversations (*.yaml) in {folder}")
    found: dict[str, ScriptedConversation] = {}
    for name in names:
        path = os.path.join(folder, name)
        for each in parse(path, outside.read(path, cap=_LARGEST + 2) or ""):
            if each.name in found:
                _wrong(path, f"conversations.{each.name}", "another one has this name")
            found[each.name] = each
    return sorted(found.values(), key=lambda each: KINDS.index(each.kind))


def select_conversations(
    every: list[ScriptedConversation], only: tuple[str, ...]
) -> list[ScriptedConversation]:
    """Return those of some kinds or names; all, if none is given."""
    known = {*KINDS, *(each.name for each in every)}
    for word in only:
        if word not in known:
            near = difflib.get_close_matches(word, sorted(known), 1)
            hint = f"did you mean {near[0]}?" if near else f"the kinds are {', '.join(KINDS)}"
            raise UsageError(f"there is no conversation and no kind {word!r}", hint)
    found = [each for each in every if not only or each.kind in only or each.name in only]
    if not found:
        raise UsageError(f"there is no conversation of kind {', '.join(only)}")
    return found


def parse(path: str, text: str) -> list[ScriptedConversation]:
    """Read the text of one file."""
    found, problem = yaml_edit.read(text, _LARGEST)
    if problem:
        raise UsageError(f"{path}: {problem}")
    file = _Reader(path, "", found)
    file.only("kind", "conversations")
    kind = next((each for each in KINDS if each == found.get("kind")), None)
    if kind is None:
        file.wrong("kind", f"expected one of {', '.join(KINDS)}")
    every = file.mapping("conversations")
    return [_conversation(every.inner(name), name, kind) for name in every.values]


def _conversation(reader: _Reader, name: str, kind: Kind) -> ScriptedConversation:
    reader.only("turns", "expect", "blocks")
    before = reader.mapping("blocks") if "blocks" in reader.values else None
    return ScriptedConversation(
        name,
        kind,
        reader.texts("turns"),
        _expectation(reader.mapping("expect")),
        {label: _before(before, label) for label in before.values} if before else {},
    )


def _before(reader: _Reader, label: str) -> InitialBlock:
    if labels.problem(label):
        reader.wrong(label, f"no label of a block: {labels.problem(label)}")
    value = reader.values[label]
    if isinstance(value, str):
        return InitialBlock(value)
    inner = reader.inner(label)
    inner.only("value", "description")
    return InitialBlock(inner.text("value"), inner.text("description"))


def _expectation(reader: _Reader) -> Expectation:
    reader.only(*_EXPECTED)
    if not reader.values:
        reader.wrong("", f"expected one of {', '.join(_EXPECTED)}")
    untouched = reader.values.get("untouched", False)
    if not isinstance(untouched, bool):
        reader.wrong("untouched", "expected true or false")
    return Expectation(
        tuple(_saved(each) for each in reader.items("saved")) if "saved" in reader.values else (),
        reader.texts("gone") if "gone" in reader.values else (),
        reader.texts("never") if "never" in reader.values else (),
        untouched,
    )


def _saved(reader: _Reader) -> SavedWords:
    reader.only("in", "words")
    groups = reader.values.get("words")
    if not isinstance(groups, list) or not groups:
        reader.wrong("words", "expected a list: each is a text, or a list of texts of which one do")
    words = _Reader(reader.path, reader.key("words"), _numbered(groups))
    return SavedWords(reader.texts("in"), tuple(words.texts(number) for number in words.values))


class _Reader:
    """A mapping of a file, and the key it stands at: what is wrong in it is said with both."""

    def __init__(self, path: str, at: str, values: Mapping[str, object]) -> None:
        self.path = path
        self.at = at
        self.values = values

    def key(self, name: str) -> str:
        return f"{self.at}.{name}".strip(".")

    def wrong(self, name: str, why: str) -> NoReturn:
        _wrong(self.path, self.key(name), why)

    def only(self, *known: str) -> None:
        for name in self.values:
            if name not in known:
                self.wrong(name, f"unknown key; there are {', '.join(known)}")

    def inner(self, name: str) -> _Reader:
        value = self.values.get(name)
        if not isinstance(value, dict):
            self.wrong(name, "expected a mapping")
        return _Reader(self.path, self.key(name), value)

    def mapping(self, name: str) -> _Reader:
        found = self.inner(name)
        if not found.values:
            self.wrong(name, "it is empty")
        return found

    def items(self, name: str) -> list[_Reader]:
        value = self.values.get(name)
        if not isinstance(value, list) or not value:
            self.wrong(name, "expected a list of mappings")
        numbered = _Reader(self.path, self.key(name), _numbered(value))
        return [numbered.inner(number) for number in numbered.values]

    def text(self, name: str) -> str:
        value = self.values.get(name)
        if not isinstance(value, str) or not value.strip():
            self.wrong(name, "expected a text (a number in quotes)")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a text, or a list of texts, as several."""
        value = self.values.get(name)
        several = value if isinstance(value, list) else [value]
        numbered = _Reader(self.path, self.key(name), _numbered(several))
        if not several or not isinstance(value, list):
            return (self.text(name),)
        return tuple(numbered.text(number) for number in numbered.values)


def _numbered(items: list[object]) -> dict[str, object]:
    return {str(number): item for number, item in enumerate(items)}


def _wrong(path: str, key: str, why: str) -> NoReturn:
    raise UsageError(f"{path}: {key}: {why}")
