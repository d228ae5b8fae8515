"""When paging is due: the window is nearly full, the task has changed, or the talk has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Trigger = Literal["window", "task", "topic", "relevance", ""]

_SAID = re.compile(
    r"\b(?:new task|next task|(?:an)?other (?:task|topic|subject)|different (?:task|topic|thing)|"
    r"something (?:else|different)|change (?:of )?(?:the )?(?:topic|subject)|"
    r"let'?s (?:switch|move on)|switch(?:ing)? (?:to|over)|"
    r"forget (?:about )?(?:that|this)|done with (?:that|this)|moving on|start over|unrelated)\b",
    re.IGNORECASE,
)
_FEWEST = 4  # words of a prompt that can tell where the talk goes
_BEFORE = 3  # prompts that say where it was
_FAR = 0.08  # cosine below which a prompt has nothing to do with those before
_LOST = 0.5  # of a block's parts that a task does not need


def due(
    prompt: str, before: Sequence[str], *, used: float = 0.0, full: float = 0.9,
    relevances: Sequence[float] = (), least: float = 0.3,
) -> Trigger:  # fmt: skip
    """Return why memory is to be paged now, "" for no reason.

    `used` is the share of the window that is filled, `full` how much is too much. `before` are the
    prompts that came before, `relevances` those of what is held, to the task.
    """
    if used >= full:
        return "window"
    if before and _SAID.search(prompt):
        return "task"
    if len(before) >= _BEFORE and len(prompt.split()) >= _FEWEST and _far(prompt, before):
        return "topic"
    lost = [each for each in relevances if each < least]
    if len(relevances) > 1 and len(lost) > _LOST * len(relevances):
        return "relevance"
    return ""


def _far(prompt: str, before: Sequence[str]) -> bool:
    from memfs.search.encoder import bundled

    vectors = bundled().encode([prompt, *before[-_BEFORE:]]).vectors
    if not vectors[0].any():
        return False
    return float((vectors[1:] @ vectors[0]).max()) < _FAR
