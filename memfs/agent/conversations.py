"""Scripted conversations: YAML files of prompts, with the memory before and after them."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, NoReturn, TypeVar, get_args
from unicodedata import normalize

import msgspec

from memfs.core import label as labels
from memfs.core import yaml_edit
from memfs.core.errors import UsageError
from memfs.files import outside
from memfs.store import archive, blocks, journal, resources
from memfs.store.blocks import Place

ARCHIVE, NEW, BLOCKS = "archive", "new", "blocks"
_EXCERPT_CHARS = 400  # characters of the text in a miss
_UNSPACED = "\u2e80"  # from here on are scripts that put no spaces between words

Kind = Literal["personal", "preference", "decision", "detail", "topic", "trivia", "forbidden"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_LARGEST = 1 << 20  # characters of a file

_Text = Annotated[str, msgspec.Meta(pattern=r"\S")]
Words = Annotated[tuple[_Text, ...], msgspec.Meta(min_length=1)]  # any of them
_Several = Words | _Text
Form = TypeVar("Form")


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mapping of a file. A text stands for a list of it."""


class InitialBlock(_Section, frozen=True):
    """A block that is there before a conversation; a default one keeps its description."""

    value: _Text
    description: str = ""


class SavedWords(_Section, frozen=True, rename={"places": "in"}):
    """Words that stand in one of `places`: one of each group.

    A place is a block's label, `archive`, `new` (blocks that were not there before) or `blocks`
    (all that last).
    """

    places: _Several
    words: Annotated[tuple[_Several, ...], msgspec.Meta(min_length=1)]


class Expectation(_Section, frozen=True):
    """What must hold after a conversation.

    `gone` stands in no block that lasts. `never` was not written at all: it is in no block, no
    passage and no version of them. `untouched`: nothing that lasts was written.
    """

    saved: tuple[SavedWords, ...] = ()
    gone: _Several = ()
    never: _Several = ()
    untouched: bool = False


class _Conversation(_Section, frozen=True):
    turns: _Several
    expect: Expectation
    blocks: dict[str, object] = {}


class _File(_Section, frozen=True):
    kind: str
    conversations: Annotated[dict[str, object], msgspec.Meta(min_length=1)]


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

    Raises `MemfsError` (usage) that names the file and the key of an error.
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
                _fail(path, f"conversations.{each.name}", "another conversation has this name")
            found[each.name] = each
    return sorted(found.values(), key=lambda each: KINDS.index(each.kind))


def select_conversations(
    every: list[ScriptedConversation], only: tuple[str, ...]
) -> list[ScriptedConversation]:
    """Return the conversations of the kinds or names in `only`; all, if it is empty."""
    known = {*KINDS, *(each.name for each in every)}
    for word in only:
        if word not in known:
            near = difflib.get_close_matches(word, sorted(known), 1)
            hint = f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(KINDS)}"
            raise UsageError(f"unknown conversation or kind: {word!r}", hint)
    found = [each for each in every if not only or each.kind in only or each.name in only]
    if not found:
        raise UsageError(f"there are no conversations of the kind {', '.join(only)}")
    return found


def parse(path: str, text: str) -> list[ScriptedConversation]:
    """Read the text of one file."""
    found, problem = yaml_edit.read(text, _LARGEST)
    if problem:
        raise UsageError(f"{path}: {problem}")
    file = _convert(path, "", found, _File)
    kind = next((each for each in KINDS if each == file.kind), None)
    if kind is None:
        _fail(path, "kind", f"expected one of {', '.join(KINDS)}")
    conversations = []
    for name, each in file.conversations.items():
        key = f"conversations.{name}"
        read = _convert(path, key, each, _Conversation)
        if read.expect == Expectation():
            _fail(path, f"{key}.expect", "an expectation is missing")
        blocks = {}
        for label, value in read.blocks.items():
            wrong, at = labels.problem(label), f"{key}.blocks.{label}"
            if wrong:
                _fail(path, at, f"the label is not valid, {wrong}")
            block = {"value": value} if isinstance(value, str) else value
            blocks[label] = _convert(path, at, block, InitialBlock)
        turns = _list_texts(read.turns)
        conversations.append(ScriptedConversation(name, kind, turns, read.expect, blocks))
    return conversations


def _convert(path: str, key: str, found: object, form: type[Form]) -> Form:
    """Convert a part of a file. Raises `UsageError` that names the file and the key."""
    try:
        return msgspec.convert(found, form)
    except msgspec.ValidationError as error:
        why, _, at = str(error).partition(" - at `$")
        where = f"{path}: {key}{at.rstrip('`')}".removesuffix(": ").replace(": .", ": ")
        hint = "see the format in docs/agent.md, and put numbers in quotes"
        raise UsageError(f"{where}: {why}", hint) from error


def _list_texts(given: _Several) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else given


def _fail(path: str, key: str, why: str) -> NoReturn:
    raise UsageError(f"{path}: {key}: {why}")


@dataclass(frozen=True)
class Miss:
    """An expectation that does not hold, and the text that is there."""

    expected: str
    there: str


def misses(expectation: Expectation, before: MemorySnapshot, after: MemorySnapshot) -> list[Miss]:
    """Return the misses: each part of the expectation that does not hold."""
    found = []
    for saved in expectation.saved:
        text = "\n".join(_select_text(place, before, after) for place in _list_texts(saved.places))
        where = " or ".join(_PLACE_NAMES.get(each, each) for each in _list_texts(saved.places))
        found += [
            Miss(f"{_quote_words(group)} in {where}", _shorten(text))
            for group in map(_list_texts, saved.words)
            if not any(contains_phrase(word, text) for word in group)
        ]
    lasting = "\n".join(after.values.values())
    written = "\n".join((lasting, after.scratch, *after.passages, *after.edits))
    found += [
        Miss(f"{_quote_words((word,))} in no block", _excerpt_lines(word, lasting))
        for word in _list_texts(expectation.gone)
        if contains_phrase(word, lasting)
    ]
    found += [
        Miss(f"{_quote_words((word,))} saved nowhere", _excerpt_lines(word, written))
        for word in _list_texts(expectation.never)
        if contains_phrase(word, written)
    ]
    if expectation.untouched and after.lasting > before.lasting:
        known = "\n".join((*before.values.values(), *before.passages)).splitlines()
        now = "\n".join((*after.values.values(), *after.passages)).splitlines()
        added = (
            "\n".join(line for line in now if line not in known) or "a change that was undone later"
        )
        found.append(Miss("nothing saved", _shorten(added)))
    return found


def contains_phrase(word: str, text: str) -> bool:
    """Return whether a text contains a word or phrase, ignoring case; `deploy*` is a prefix."""
    start, text = normalize("NFC", word.rstrip("*")), normalize("NFC", text)
    inside = r"\s+".join(re.escape(part) for part in start.split())
    left = r"(?<!\w)" if _has_word_boundary(start[:1]) else ""
    right = r"(?!\w)" if _has_word_boundary(start[-1:]) and not word.endswith("*") else ""
    return re.search(f"{left}{inside}{right}", text, re.IGNORECASE) is not None


_PLACE_NAMES = {ARCHIVE: "the archive", NEW: "a new block", BLOCKS: "a block"}


def _select_text(place: str, before: MemorySnapshot, after: MemorySnapshot) -> str:
    if place == ARCHIVE:
        return "\n".join(after.passages)
    if place == BLOCKS:
        return "\n".join(after.values.values())
    if place == NEW:
        labels = [label for label in after.values if label not in before.values]
        return "\n".join(
            f"{label.replace('_', ' ')}\n{after.about[label]}\n{after.values[label]}"
            for label in labels
        )
    return after.values.get(place, "")


def _has_word_boundary(character: str) -> bool:
    return character.isalnum() and character < _UNSPACED


def _quote_words(words: Words) -> str:
    return " or ".join(f'"{word}"' for word in words)


def _excerpt_lines(word: str, text: str) -> str:
    """Return the distinct lines with a word; all of the text where it goes over several."""
    lines = dict.fromkeys(line for line in text.splitlines() if contains_phrase(word, line))
    return _shorten("\n".join(lines) or text)


def _shorten(text: str) -> str:
    flat = " / ".join(line.strip() for line in text.splitlines() if line.strip())
    return flat if len(flat) <= _EXCERPT_CHARS else f"{flat[: _EXCERPT_CHARS - 1]}…"


@dataclass(frozen=True)
class MemorySnapshot:
    """The blocks that last, by label: `values` their texts, `about` their descriptions.

    `passages` are the archived texts with their tags, `scratch` is what ends with the session.
    `edits` are the texts that the model's edits left, with their reasons; `lasting` counts those of
    blocks that last, and the passages.
    """

    values: dict[str, str]
    about: dict[str, str]
    passages: tuple[str, ...]
    scratch: str
    edits: tuple[str, ...]
    lasting: int


def take_snapshot(place: Place) -> MemorySnapshot:
    """Read the memory of a place, file by file."""
    values: dict[str, str] = {}
    about: dict[str, str] = {}
    scratch = []
    for block in blocks.load(place):
        if block.tier == labels.SESSION:
            scratch.append(block.value)
            continue
        for texts, text in ((values, block.value), (about, block.description)):
            texts[block.label] = "\n".join(filter(None, (texts.get(block.label), text)))
    entries = [
        entry for store in place.stores() for entry in journal.read(store) if entry.actor == "agent"
    ]
    edits = tuple(
        f"{entry.label}\n{block.description}\n{block.value}\n{entry.reason}"
        for entry in entries
        for block in [blocks.make(entry.tier, entry.label, "", entry.after or "")]
    )
    archived = [archive.read(path) for store in place.stores() for path in archive.sources(store)]
    passages = tuple("\n#".join((each.text, *each.tags)) for each in archived if each)
    return MemorySnapshot(
        values,
        about,
        passages,
        "\n".join(scratch),
        edits,
        sum(entry.tier != labels.SESSION for entry in entries) + len(passages),
    )
