"""Weigh what a session is given: tokens by section against a window, and what would be cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.context import budget as budgets
from memfs.context import compose, counting, pulled
from memfs.core import render
from memfs.store import blocks, config, shipped

if TYPE_CHECKING:
    from memfs.context.budget import Budget
    from memfs.core.block import Block
    from memfs.store.blocks import Place


@dataclass(frozen=True)
class Section:
    """One section: its tokens as it is, and how many of them would be shown."""

    name: str
    tokens: int
    shown: int

    @property
    def cut(self) -> int:
        return self.tokens - self.shown


@dataclass(frozen=True)
class Weighed:
    """A window and what is in it. `left` is what messages, summary and hits may have.

    `counter` says who counted: tiktoken, or our estimate. `host` names the blocks that an
    assistant's own limit for hooks cuts already.
    """

    budget: Budget
    sections: tuple[Section, ...]
    counter: str
    host: tuple[str, ...]

    @property
    def used(self) -> int:
        return sum(section.shown for section in self.sections)

    @property
    def left(self) -> int:
        return self.budget.room - self.used


def run(place: Place, window: int = 0) -> Weighed:
    """Weigh the brief of a place against the configured window, or one of so many tokens."""
    budget = budgets.configured(config.load(place), window)
    counter = counting.counter()
    held = pulled.look(place, note=False).held
    brief = compose.within(place, held, budget.share("blocks"))
    usual, texts = compose.whole(place, held)
    known = [each for each in blocks.load(place) if _key(each) in texts]
    found = [blocks.make(each.tier, each.label, each.path, texts[_key(each)]) for each in known]
    pinned = render.order([block for block in found if block.pinned])
    guidance = counter.count(shipped.text("templates", "guidance.md"))
    sections = [Section("instructions", guidance, guidance)]
    cut = []
    for block in pinned:
        whole = render.section(block)
        tokens = counter.count(whole)
        sections.append(Section(block.label, tokens, counter.count(_shown(whole, brief))))
        if whole not in usual:
            cut.append(block.label)
    named = counter.count(brief) - sum(section.shown for section in sections)
    sections.append(Section("names of other blocks and tools", max(0, named), max(0, named)))
    return Weighed(budget, tuple(sections), counter.name, tuple(cut))


def _key(block: Block) -> str:
    return f"{block.tier}:{block.label}"


def _shown(whole: str, brief: str) -> str:
    """Return what of a section the brief has: all of it, or its beginning, line by line."""
    if whole in brief:
        return whole
    kept = ""
    for line in whole.splitlines(keepends=True):
        if kept + line not in brief:
            break
        kept += line
    return kept
