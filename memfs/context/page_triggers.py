"""Triggers of paging: a nearly full window, a new task, or a new topic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from memfs.search.text_vectors import embed_texts

Trigger = Literal["window", "task", "topic", "relevance", ""]

_SAID = re.compile(
    r"^(?:(?:ok(?:ay)?|now|so|good|great|thanks|right|alright|well|fine)\b[,.!: ]*)*"
    r"(?:(?:a |the )?(?:new|next|another|other|different) (?:task|topic|subject)\b|"
    r"let'?s (?:switch|move on|do something else|talk about something else)\b|"
    r"(?:switching|moving on) to\b|forget (?:about )?(?:that|this|it)\b|"
    r"(?:we're |i'm )?done with (?:that|this|it)\b|something (?:completely )?(?:else|different)\b)",
    re.IGNORECASE,
)
# Prompts that continue the same topic.
_GOES_ON = re.compile(
    r"^(?:thanks|thank you|yes|yep|no|nope|ok(?:ay)?|good|great|perfect|nice|right|go on|continue|"
    r"please (?:go on|continue)|try again|again|and|but|also|hm+|wait)\b",
    re.IGNORECASE,
)
_LATIN = re.compile(r"[A-Za-z]{3,}")
_FEWEST = 5  # words of a prompt that can change the topic
BEFORE = 3  # prompts that define the topic
_FAR = 0.08  # cosine below which a prompt is unrelated to those before
_LOST = 0.5  # of a block's parts: more than that are irrelevant to the task


def find_trigger(
    prompt: str,
    before: Sequence[str],
    *,
    used: float = 0.0,
    full: float = 0.9,
    relevances: Sequence[float] = (),
    least: float = 0.3,
) -> Trigger:
    """Return the reason to page memory now, "" for none.

    `used` is the filled share of the window, `full` the threshold for it. `before` are the earlier
    prompts, `relevances` those of the block's parts to the task, below `least` irrelevant.
    """
    if used >= full:
        return "window"
    if before and _SAID.search(prompt):
        return "task"
    if len(before) >= BEFORE and is_telling(prompt) and _is_far(prompt, before):
        return "topic"
    lost = [each for each in relevances if each < least]
    if len(relevances) > 1 and len(lost) > _LOST * len(relevances):
        return "relevance"
    return ""


def is_telling(prompt: str) -> bool:
    """Tell whether a prompt names a topic, and does not merely continue."""
    return len(_LATIN.findall(prompt)) >= _FEWEST and not _GOES_ON.match(prompt)


def _is_far(prompt: str, before: Sequence[str]) -> bool:
    vectors = embed_texts([prompt, *before[-BEFORE:]])
    if not vectors[0].any():
        return False
    return float((vectors[1:] @ vectors[0]).max()) < _FAR
