"""Standing rules that no block says yet: list them, say no to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.context import compose
from memfs.store import blocks, standing

if TYPE_CHECKING:
    from memfs.store.blocks import Place
    from memfs.store.standing import Rule

_MINE = frozenset(("i", "i'm", "i've", "me", "my", "mine"))


def pending(place: Place) -> list[Rule]:
    """List what users stated to hold and no block says, the newest first."""
    return compose.unwritten_rules(place, [block.raw for block in blocks.load(place)])


def label(rule: Rule) -> str:
    """Return the label of the block that a rule would stand in: what is about its user, or not."""
    mine = not _MINE.isdisjoint(rule.words)
    return "human" if mine else "system_rules"


def refuse(place: Place, rule: Rule) -> None:
    """Have a rule shown no more."""
    standing.refuse(place.home, rule)
