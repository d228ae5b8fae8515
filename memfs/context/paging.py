"""What leaves a full block first: its parts scored for a task, and what becomes of each.

A part is a list item, a line that stands for itself, or a wrapped paragraph. How much a part is
worth keeping: how near it is to the task (by embedding, also through parts that are near), whether
recent messages came back to it, how important it sounds, how new it is. Headings stay where they
are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memfs.core.tokens import estimate
from memfs.search.text_vectors import embed_texts

if TYPE_CHECKING:
    from collections.abc import Sequence


Fate = Literal["archive", "summarise", "discard"]

_NEAR = 0.35  # cosine to the task from which on a part is wholly relevant
_THROUGH = 0.6  # how much of the relevance of a part goes over to one that is like it
_REFERRED = 0.45  # cosine to a message that came back to it
_WEIGHTS = {"relevance": 0.5, "references": 0.15, "importance": 0.2, "recency": 0.15}
_HALF = 30.0  # days in which a part loses half of its newness
_WRAPPED = 60  # characters from which on a line may go on in the next one
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
    """A part that could leave, and what is known of it. Everything but `tokens` is 0 to 1.

    `worth` is how much it is worth keeping; `importance` is 1 to 10; `days` is its age.
    """

    part: BlockPart
    worth: float
    relevance: float
    referred: bool
    importance: int
    days: float
    tokens: int
    fate: Fate


def parts(body: str) -> list[BlockPart]:
    """Cut a body into its parts; headings, fences and blank lines belong to none."""
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
        if found and previous and _goes_on(previous, text):
            start = found[-1].start
            found[-1] = BlockPart(start, end, body[start:end])
        else:
            found.append(BlockPart(here, end, line))
        previous = text
    return found


def _goes_on(previous: str, text: str) -> bool:
    """Tell whether a line goes on with the part that the line before it belongs to."""
    if _ITEM.match(text):
        return text[:1] in " \t" and not previous[:1].isspace() and bool(_ITEM.match(previous))
    if text[:1] in " \t":
        return True
    return len(previous) >= _WRAPPED and previous.rstrip()[-1:] not in ".!?:;"


def importance(text: str) -> int:
    """Return how important a text sounds, 1 to 10."""
    if _LASTING.search(text):
        return _HIGH
    return _LOW if _PASSING.search(text) else _USUAL


def get_fate(text: str, *, scratch: bool, important: int, lengthy: int) -> Fate:
    """Return what becomes of a part that leaves, by its kind.

    What is `important` (1 to 10) or more is archived; what has `lengthy` tokens or more is
    summarised, then archived; passing notes are discarded (the journal keeps them), and all of a
    `scratch` block, which is nobody's but its session's; the rest is archived.
    """
    if scratch:
        return "discard"
    if importance(text) >= important:
        return "archive"
    if _PASSING.search(text):
        return "discard"
    return "summarise" if estimate(text) >= lengthy else "archive"


def relevances(task: str, texts: Sequence[str]) -> list[float]:
    """Return how relevant texts are to a task, 0 to 1; all 1 for no task."""
    if not task.strip() or not texts:
        return [1.0] * len(texts)
    vectors = embed_texts([task, *texts])
    near = (vectors[1:] @ vectors[0]).clip(0)
    like = (vectors[1:] @ vectors[1:].T).clip(0)
    like.flat[:: len(texts) + 1] = 0  # each is like itself
    through = _THROUGH * (like * (near / max(float(near.max()), 1e-9))).max(axis=1)
    # What is near to nothing does not get near through it.
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
    """Score the parts of a body, in days of `ages`; what is worth least to keep comes first."""
    found = parts(body)
    texts = [part.text for part in found]
    near = relevances(task, texts)
    referred = _referred(texts, recent)
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
    """Return what leaves: as much as frees so many characters, else what is less relevant.

    What is important (1 to 10) stays where no room is needed: a rule holds for every task.
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


def remove_parts(body: str, gone: Sequence[PageCandidate], left: dict[int, str]) -> str:
    """Return a body without parts; `left` is what stays of one in its place, by its start."""
    out, at = [], 0
    for part in sorted((each.part for each in gone), key=lambda part: part.start):
        out += [body[at : part.start], left.get(part.start, "")]
        at = part.end
    return "".join([*out, body[at:]])


def _referred(texts: Sequence[str], recent: Sequence[str]) -> list[bool]:
    if not texts or not recent:
        return [False] * len(texts)
    vectors = embed_texts([*texts, *recent])
    near = vectors[: len(texts)] @ vectors[len(texts) :].T
    return [bool(row.max() >= _REFERRED) for row in near]
