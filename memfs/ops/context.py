"""The context of a session: weighed against a window, or composed for a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.context import budget as budgets
from memfs.context import compose, counting
from memfs.core import label as labels
from memfs.core import render
from memfs.core.errors import USAGE, MemfsError
from memfs.memory import orchestrator
from memfs.memory.kinds.protocol import Query, State
from memfs.store import blocks, config, shipped

if TYPE_CHECKING:
    from memfs.context.assemble import Compression
    from memfs.context.budget import Budget
    from memfs.core.block import Block
    from memfs.memory.kept import Kept
    from memfs.memory.orchestrator import Context, Orchestrator
    from memfs.store.blocks import Place

# How many are weighed of each kind.
_MOST = {"vector": 150, "facts": 15, "static": 10, "graph": 3}


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
    brief = compose.within(place, budget.share("blocks"))
    usual = compose.whole(place)[0]
    pinned = render.order([block for block in blocks.load(place) if block.pinned])
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


def for_task(
    kept: Kept, task: str, limit: int = 0, compression: Compression | None = None
) -> Context:  # fmt: skip
    """Compose what memory holds for a task, in at most `limit` tokens; 0: as configured.

    From the kinds that are configured. Raises `MemfsError` for no task, or a limit too small for
    anything.
    """
    if not task.strip():
        raise MemfsError("which task?", 'memfs context --task "fix the flaky test"', USAGE)
    found = orchestrator.of(kept)
    return found.context(
        State(task=task, session=kept.place.session),
        _required(found),
        limit=limit,
        compression=compression,
    )


def _required(found: Orchestrator) -> dict[str, Query]:
    """Return how much is weighed of each kind."""
    kinds = found.kinds.values()
    return {kind.id: Query(limit=_MOST[kind.type]) for kind in kinds if kind.type in _MOST}


def _key(block: Block) -> str:
    return labels.qualified(block.tier, block.label)


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
