"""Paging: scores the parts of a block for a task, and decides what becomes of each.

A part is a list item, a single line, or a wrapped paragraph. Its worth depends on its similarity
to the task (by embedding, also through similar parts), on references in recent messages, on its
importance, and on its age. Headings are never paged out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memfs.core.tokens import estimate
from memfs.search.text_vectors import embed_texts

Fate = Literal["archive", "summarise", "discard"]

_NEAR = 0.35  # cosine to the task from which on a part is wholly relevant
_THROUGH = 0.6  # share of its relevance that a part passes on to a similar one
_REFERRED = 0.45  # cosine to a message from which on that refers to a part
_WEIGHTS = {"relevance": 0.5, "references": 0.15, "importance": 0.2, "recency": 0.15}
_HALF = 30.0  # days: half-life of the recency of a part
_WRAPPED = 60  # characters from which on a line may be wrapped into the next one
_ITEM = re.compile(r"[ \t]{0,3}(?:[-*+]|\d+[.)])[ \t]")
_HEADING = re.compile(r"[ \t]{0,3}(?:#{1,6}[ \t]|[^\n]{1,60}:[ \t]*$)")
_PASSING = re.compile(
    r"\b(?:todo|wip|tmp|temporary|temporarily|for now|right now|currently|in progress|next step|"
    r"today|tomorrow|this morning|just now|still (?:open|running)|scratch|retry later)\b",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"\b(?:always|never|must(?: not)?|do not|don't|prefers?|decided|decision|important|required|"
    r"name is|name:|works? (?:at|for)|allerg\w+|deadline|password policy|security)\b",
    re.IGNORECASE,
)
_USUAL, _HIGH, _LOW = 5, 8, 3  # importance, 1 to 10


@dataclass(frozen=True)
class BlockPart:
    """A part of a body: the text between two places, with its line end."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class PageCandidate:
    """A part that could be paged out, and its scores: `worth` and `relevance` are 0 to 1.

    `importance` is 1 to 10; `days` is its age; `referred`: a recent message refers to it.
    """

    part: BlockPart
    worth: float
    relevance: float
    referred: bool
    importance: int
    days: float
    tokens: int
    fate: Fate


def split_parts(body: str) -> list[BlockPart]:
    """Split a body into its parts; headings, fences and blank lines belong to none."""
    found: list[BlockPart] = []
    start, end = 0, 0
    fenced = False
    previous = ""
    for line in body.splitlines(keepends=True):
        here, end = end, end + len(line)
        text = line.rstrip("\r\n")
        fence = text.lstrip().startswith(("```", "~~~"))
        if fence or fenced:
            fenced = fenced != fence
            previous = ""
            continue
        if not text.strip() or _HEADING.match(text) or text.strip() == "---":
            previous = ""
            continue
        if found and previous and _continues(previous, text):
            start = found[-1].start
            found[-1] = BlockPart(start, end, body[start:end])
        else:
            found.append(BlockPart(here, end, line))
        previous = text
    return found


def _continues(previous: str, text: str) -> bool:
    """Tell whether a line continues the part of the line before it."""
    if _ITEM.match(text):
        return text[:1] in " \t" and not previous[:1].isspace() and bool(_ITEM.match(previous))
    if text[:1] in " \t":
        return True
    return len(previous) >= _WRAPPED and previous.rstrip()[-1:] not in ".!?:;"


def importance(text: str) -> int:
    """Return the importance of a text by its wording, 1 to 10."""
    if _LASTING.search(text):
        return _HIGH
    return _LOW if _PASSING.search(text) else _USUAL


def get_fate(text: str, *, scratch: bool, important: int, lengthy: int) -> Fate:
    """Return the fate of a part that is paged out.

    Parts of `important` (1 to 10) or more are archived; those of `lengthy` tokens or more are
    summarised, then archived; passing notes are discarded (the journal keeps them), and so is all
    of a `scratch` block, which belongs to its session alone; the rest is archived.
    """
    if scratch:
        return "discard"
    if importance(text) >= important:
        return "archive"
    if _PASSING.search(text):
        return "discard"
    return "summarise" if estimate(text) >= lengthy else "archive"


def relevances(task: str, texts: Sequence[str]) -> list[float]:
    """Return the relevance of each text to a task, 0 to 1; all 1 for no task."""
    if not task.strip() or not texts:
        return [1.0] * len(texts)
    vectors = embed_texts([task, *texts])
    near = (vectors[1:] @ vectors[0]).clip(0)
    like = (vectors[1:] @ vectors[1:].T).clip(0)
    like.flat[:: len(texts) + 1] = 0  # each is like itself
    through = _THROUGH * (like * (near / max(float(near.max()), 1e-9))).max(axis=1)
    # Similarity to other parts alone makes no part more relevant than the most similar one.
    through = through.clip(max=near.max())
    return [float(each) for each in (near.clip(through) / _NEAR).clip(0, 1)]


def candidates(
    body: str,
    task: str,
    recent: Sequence[str],
    ages: Sequence[float],
    *,
    scratch: bool,
    important: int,
    lengthy: int,
) -> list[PageCandidate]:
    """Score the parts of a body, the least worth first. `ages` are those of the parts in days."""
    found = split_parts(body)
    texts = [part.text for part in found]
    near = relevances(task, texts)
    referred = _find_references(texts, recent)
    scored = []
    for part, relevance, again, days in zip(found, near, referred, ages, strict=True):
        sounds = importance(part.text)
        worth = (
            _WEIGHTS["relevance"] * relevance
            + _WEIGHTS["references"] * again
            + _WEIGHTS["importance"] * sounds / 10
            + _WEIGHTS["recency"] * 0.5 ** (days / _HALF)
        )
        kind = get_fate(part.text, scratch=scratch, important=important, lengthy=lengthy)
        scored.append(
            PageCandidate(part, worth, relevance, again, sounds, days, estimate(part.text), kind)
        )
    return sorted(scored, key=lambda each: (each.worth, -each.tokens))


def choose_parts(
    found: Sequence[PageCandidate], least: float, free: int, important: int
) -> list[PageCandidate]:
    """Return the parts to page out: enough to free `free` characters, else those below `least`.

    In the second case parts of `important` (1 to 10) or more stay: a rule holds for every task.
    """
    if not free:
        return [each for each in found if each.relevance < least and each.importance < important]
    out: list[PageCandidate] = []
    for each in found:
        if free <= 0:
            break
        out.append(each)
        free -= len(each.part.text)
    return out


def remove_parts(body: str, gone: Sequence[PageCandidate], texts: dict[int, str]) -> str:
    """Return a body without parts; `texts` maps the start of one to the text that replaces it."""
    out, at = [], 0
    for part in sorted((each.part for each in gone), key=lambda part: part.start):
        out += [body[at : part.start], texts.get(part.start, "")]
        at = part.end
    return "".join([*out, body[at:]])


def _find_references(texts: Sequence[str], recent: Sequence[str]) -> list[bool]:
    if not texts or not recent:
        return [False] * len(texts)
    vectors = embed_texts([*texts, *recent])
    near = vectors[: len(texts)] @ vectors[len(texts) :].T
    return [bool(row.max() >= _REFERRED) for row in near]
