"""What has to be in memory after a conversation, and what must not; held against what is there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unicodedata import normalize

if TYPE_CHECKING:
    from memfs.agent.memory_snapshot import MemorySnapshot

ARCHIVE, NEW, BLOCKS = "archive", "new", "blocks"
_SHOWN = 400  # characters of what is there
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
    """What was expected, and what is there instead."""

    expected: str
    there: str


def misses(wanted: Expectation, before: MemorySnapshot, after: MemorySnapshot) -> list[Miss]:
    """Return what does not hold."""
    found = []
    for saved in wanted.saved:
        text = "\n".join(_text(place, before, after) for place in saved.places)
        where = " or ".join(_NAMED.get(place, place) for place in saved.places)
        found += [
            Miss(f"{where} to say {_said(group)}", _short(text))
            for group in saved.words
            if not any(contains_phrase(word, text) for word in group)
        ]
    lasting = "\n".join(after.values.values())
    written = "\n".join((lasting, after.scratch, *after.passages, *after.edits))
    found += [
        Miss(f"no block to say {_said((word,))} any more", _lines(word, lasting))
        for word in wanted.gone
        if contains_phrase(word, lasting)
    ]
    found += [
        Miss(f"{_said((word,))} not to be written at all", _lines(word, written))
        for word in wanted.never
        if contains_phrase(word, written)
    ]
    if wanted.untouched and after.lasting > before.lasting:
        known = "\n".join((*before.values.values(), *before.passages)).splitlines()
        now = "\n".join((*after.values.values(), *after.passages)).splitlines()
        shown = "\n".join(line for line in now if line not in known) or "what was taken back"
        found.append(Miss("nothing to be saved", _short(shown)))
    return found


def contains_phrase(word: str, text: str) -> bool:
    """Tell whether a word or phrase stands in a text, in any case; `deploy*` is a beginning."""
    start, text = normalize("NFC", word.rstrip("*")), normalize("NFC", text)
    inside = r"\s+".join(re.escape(part) for part in start.split())
    left = r"(?<!\w)" if _bounded(start[:1]) else ""
    right = r"(?!\w)" if _bounded(start[-1:]) and not word.endswith("*") else ""
    return re.search(f"{left}{inside}{right}", text, re.IGNORECASE) is not None


_NAMED = {ARCHIVE: "the archive", NEW: "a new block", BLOCKS: "some block"}


def _text(place: str, before: MemorySnapshot, after: MemorySnapshot) -> str:
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


def _bounded(character: str) -> bool:
    return character.isalnum() and character < _UNSPACED


def _said(words: Words) -> str:
    return " or ".join(f'"{word}"' for word in words)


def _lines(word: str, text: str) -> str:
    """Return the lines a word stands in, once each; all of the text where it goes over several."""
    lines = dict.fromkeys(line for line in text.splitlines() if contains_phrase(word, line))
    return _short("\n".join(lines) or text)


def _short(text: str) -> str:
    flat = " / ".join(line.strip() for line in text.splitlines() if line.strip())
    return flat if len(flat) <= _SHOWN else f"{flat[: _SHOWN - 1]}…"
