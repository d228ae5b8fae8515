"""Standing rules that no block has yet: list them, refuse one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.store import blocks, standing_rules
from memfs.store.blocks import Place
from memfs.store.standing_rules import StandingRule

if TYPE_CHECKING:
    from memfs.core.body_edits import Append

_MINE = frozenset(("i", "i'm", "i've", "me", "my", "mine"))


def list_pending(place: Place) -> list[StandingRule]:
    """List the rules that users stated and no block has, then what may be one; newest first."""
    known = sorted(standing_rules.read(place.home), key=lambda rule: not rule.certain)
    return standing_rules.unwritten(known, [block.raw for block in blocks.load(place)])


def label(rule: StandingRule) -> str:
    """Return the label of the block for a rule: `human` if it is about its user."""
    mine = not _MINE.isdisjoint(rule.words)
    return "human" if mine else "system_rules"


def make_edit(rule: StandingRule, text: str = "") -> tuple[Append, str]:
    """Return the edit that takes a rule into its block, in other words if a text is given.

    The second is the reason of the edit.
    """
    from memfs.core.body_edits import Append  # with what edits, which a list needs not

    day = f"stated on {rule.at[:10]}" if rule.at else "stated in a past session"
    return Append(label(rule), f"- {text or rule.text}"), day


def refuse_rule(place: Place, rule: StandingRule) -> None:
    """Refuse a rule, so that it is not listed again."""
    standing_rules.refuse(place.home, rule.id)
