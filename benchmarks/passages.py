"""Real text that every machine has: docstrings and comments of the Python standard library.

Docstrings and comments are cut into sentences; a passage is two or three of them, mostly of one
module, so that any number of distinct ones can be made, always the same.
"""

import os
import random
import re
import sysconfig
from collections.abc import Callable, Iterator
from functools import cache

from benchmarks import project
from memfs import files
from memfs.core.records import Message
from memfs.store import blocks, recall

SESSION = 500  # messages
_LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "turtledemo"}
_PROSE = re.compile(r'"""(.*?)"""|((?:^[ \t]*#[^\n]*\n)+)', re.DOTALL | re.MULTILINE)
_ENDS = re.compile(r"(?<=[.!?:])\s+|\n\s*\n")
_SHORTEST, _LONGEST = 5, 40  # words of a sentence
_QUERY = 6  # words


@cache
def sentences() -> list[list[str]]:
    """Return the distinct sentences of each module of the standard library that has some."""
    seen: set[str] = set()
    found: list[list[str]] = []
    for folder, folders, names in os.walk(sysconfig.get_path("stdlib")):
        folders[:] = sorted(set(folders) - _LEFT_OUT)
        for name in sorted(names):
            if name.endswith(".py"):
                with open(f"{folder}/{name}", encoding="utf-8", errors="replace") as handle:
                    fresh = [each for each in _split_sentences(handle.read()) if each not in seen]
                seen.update(fresh)
                found.append(list(dict.fromkeys(fresh)))
    return [each for each in found if len(each) > 1]


def passages(count: int) -> Iterator[str]:
    """Yield `count` distinct passages of about 30 words."""
    modules = sentences()
    everything = [(module, text) for module in modules for text in module]
    lot = random.Random(20_261_120)  # noqa: S311 - texts that can be made again, no secrets
    seen: set[tuple[str, ...]] = set()
    while len(seen) < count:
        module, first = everything[len(seen) % len(everything)]
        parts = [first, lot.choice(module)]
        if lot.random() < 0.5:
            parts.append(lot.choice(everything)[1])
        made = tuple(dict.fromkeys(parts))
        if made not in seen:
            seen.add(made)
            yield " ".join(made)


def queries(count: int) -> list[str]:
    """Return texts to search for: some words of a sentence, in their order."""
    lot = random.Random(7)  # noqa: S311 - likewise
    modules = sentences()
    found: list[str] = []
    while len(found) < count:
        words = lot.choice(lot.choice(modules)).split()
        places = sorted(lot.sample(range(len(words)), min(_QUERY, len(words))))
        found.append(" ".join(words[place] for place in places))
    return found


def store(
    path: str, count: int, tick: Callable[[int], object], length: int = SESSION
) -> blocks.Place:
    """Make a project whose recall holds `count` passages in sessions of `length` each.

    Nothing is indexed.
    """
    place = project.make(path)
    messages: list[Message] = []
    files.make_folder(f"{place.home.local}/recall/bench", private=True)
    for number, text in enumerate(passages(count)):
        session = f"s{number // length:05}"
        at = f"2026-{number // length % 12 + 1:02}-{number % 28 + 1:02}T10:00:00Z"
        role = "assistant" if number % 2 else "user"
        messages.append(Message(f"m{number}", session, "bench", path, "", at, role, text))
        if len(messages) == length or number == count - 1:
            recall.write_session(
                f"{place.home.local}/recall/bench/{session}{recall.SUFFIX}", messages
            )
            tick(len(messages))
            messages = []
    return place


def _split_sentences(source: str) -> Iterator[str]:
    for match in _PROSE.finditer(source):
        text = match[1] or re.sub(r"^[ \t]*#+", " ", match[2], flags=re.MULTILINE)
        for part in _ENDS.split(text):
            sentence = " ".join(part.split())
            if _SHORTEST <= len(sentence.split()) <= _LONGEST:
                yield sentence
