"""How much of a context window the brief takes, section by section."""

from __future__ import annotations

from typing import NamedTuple

from memfs.context import brief_contents, window_budget
from memfs.context.window_budget import Budget
from memfs.core import brief_layout
from memfs.store import blocks, config, prompts
from memfs.store.blocks import Place


class WindowSection(NamedTuple):
    """One section: its tokens in full, and how many of them fit."""

    name: str
    tokens: int
    shown: int

    @property
    def cut(self) -> int:
        return self.tokens - self.shown


class WindowUsage(NamedTuple):
    """A window and its sections. `left` is for messages, summary and hits.

    `counter` names the token counter: tiktoken, or our estimate. `host` names the blocks that
    an assistant's own limit for hooks cuts.
    """

    budget: Budget
    sections: tuple[WindowSection, ...]
    counter: str
    host: tuple[str, ...]

    @property
    def used(self) -> int:
        return sum(section.shown for section in self.sections)

    @property
    def left(self) -> int:
        return self.budget.room - self.used


def measure_window(place: Place, window: int = 0, host: str = "") -> WindowUsage:
    """Measure the brief of a place against the configured window, or one of `window` tokens.

    The guidance is that of a host, where a store has such.
    """
    budget = window_budget.load_budget(config.load(place), window)
    counter = window_budget.load_counter()
    brief = brief_contents.compose_within(place, budget.get_share("blocks"), host=host)
    usual = brief_contents.compose_brief(place, host=host)[0]
    pinned = brief_layout.sort_blocks([block for block in blocks.load(place) if block.pinned])
    guidance = counter.measure(prompts.read(place, "guidance", host))
    sections = [WindowSection("instructions", guidance, guidance)]
    cut = []
    for block in pinned:
        text = brief_layout.section(block)
        tokens = counter.measure(text)
        sections.append(WindowSection(block.label, tokens, counter.measure(_clip(text, brief))))
        if text not in usual:
            cut.append(block.label)
    rest = counter.measure(brief) - sum(section.shown for section in sections)
    sections.append(WindowSection("names of other blocks and tools", max(0, rest), max(0, rest)))
    return WindowUsage(budget, tuple(sections), counter.name, tuple(cut))


def _clip(text: str, brief: str) -> str:
    """Return the leading lines of a section that the brief has, all of them if it is whole."""
    if text in brief:
        return text
    shown = ""
    for line in text.splitlines(keepends=True):
        if shown + line not in brief:
            break
        shown += line
    return shown
