"""Expectations of the memory after a conversation, compared with a snapshot of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unicodedata import normalize

if TYPE_CHECKING:
    pass
from memfs.core import label as labels
from memfs.core.records import JournalEntry
from memfs.store import archive, blocks, journal
from memfs.store.blocks import Place

ARCHIVE, NEW, BLOCKS = "archive", "new", "blocks"
_EXCERPT_CHARS = 400  # characters of the text in a miss
_UNSPACED = "\u2e80"  # from here on are scripts that put no spaces between words

Words = tuple[str, ...]  # any of them


@dataclass(frozen=True)
class SavedWords:
    """Words that stand in one of `places`: one of each group.

    A place is a block's label, `archive`, `new` (blocks that were not there before) or `blocks`
    (all that last).
    """

    places: tuple[str, ...]
    words: tuple[Words, ...]


@dataclass(frozen=True)
class Expectation:
    """What must hold after a conversation.

    `gone` stands in no block that lasts. `never` was not written at all: it is in no block, no
    passage and no version of them. `untouched`: nothing that lasts was written.
    """

    saved: tuple[SavedWords, ...] = ()
    gone: Words = ()
    never: Words = ()
    untouched: bool = False


@dataclass(frozen=True)
class Miss:
    """An expectation that does not hold, and the text that is there."""

    expected: str
    there: str


def misses(expectation: Expectation, before: MemorySnapshot, after: MemorySnapshot) -> list[Miss]:
    """Return the misses: each part of the expectation that does not hold."""
    found = []
    for saved in expectation.saved:
        text = "\n".join(_select_text(place, before, after) for place in saved.places)
        where = " or ".join(_PLACE_NAMES.get(place, place) for place in saved.places)
        found += [
            Miss(f"{where} to say {_quote_words(group)}", _shorten(text))
            for group in saved.words
            if not any(contains_phrase(word, text) for word in group)
        ]
    lasting = "\n".join(after.values.values())
    written = "\n".join((lasting, after.scratch, *after.passages, *after.edits))
    found += [
        Miss(f"no block to say {_quote_words((word,))} any more", _excerpt_lines(word, lasting))
        for word in expectation.gone
        if contains_phrase(word, lasting)
    ]
    found += [
        Miss(f"{_quote_words((word,))} not to be written at all", _excerpt_lines(word, written))
        for word in expectation.never
        if contains_phrase(word, written)
    ]
    if expectation.untouched and after.lasting > before.lasting:
        known = "\n".join((*before.values.values(), *before.passages)).splitlines()
        now = "\n".join((*after.values.values(), *after.passages)).splitlines()
        added = "\n".join(line for line in now if line not in known) or "what was taken back"
        found.append(Miss("nothing to be saved", _shorten(added)))
    return found


def contains_phrase(word: str, text: str) -> bool:
    """Return whether a text contains a word or phrase, ignoring case; `deploy*` is a prefix."""
    start, text = normalize("NFC", word.rstrip("*")), normalize("NFC", text)
    inside = r"\s+".join(re.escape(part) for part in start.split())
    left = r"(?<!\w)" if _has_word_boundary(start[:1]) else ""
    right = r"(?!\w)" if _has_word_boundary(start[-1:]) and not word.endswith("*") else ""
    return re.search(f"{left}{inside}{right}", text, re.IGNORECASE) is not None


_PLACE_NAMES = {ARCHIVE: "the archive", NEW: "a new block", BLOCKS: "some block"}


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
    archived = [archive.read(path) for store in place.stores() for path in archive.sources(store)]
    passages = tuple("\n#".join((each.text, *each.tags)) for each in archived if each)
    return MemorySnapshot(
        values,
        about,
        passages,
        "\n".join(scratch),
        tuple(_render_edit(entry) for entry in entries),
        sum(entry.tier != labels.SESSION for entry in entries) + len(passages),
    )


def _render_edit(entry: JournalEntry) -> str:
    block = blocks.make(entry.tier, entry.label, "", entry.after or "")
    return f"{entry.label}\n{block.description}\n{block.value}\n{entry.reason}"
