"""The context of a session: weighed against a window, or composed for a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.context import brief_text, token_counter
from memfs.context import budget as budgets
from memfs.core import label as labels
from memfs.core import render
from memfs.core.errors import UsageError
from memfs.knowledge import orchestrator
from memfs.knowledge.kinds.protocol import Query, State
from memfs.store import blocks, config, resources

if TYPE_CHECKING:
    from memfs.context.assemble import Compression
    from memfs.context.budget import Budget
    from memfs.core.block import Block
    from memfs.knowledge.orchestrator import Context, Orchestrator
    from memfs.recall.index_session import IndexSession
    from memfs.store.blocks import Place

# How many are weighed of each kind.
_MOST = {"vector": 150, "facts": 15, "static": 10, "graph": 3}


@dataclass(frozen=True)
class WindowSection:
    """One section: its tokens as it is, and how many of them would be shown."""

    name: str
    tokens: int
    shown: int

    @property
    def cut(self) -> int:
        return self.tokens - self.shown


@dataclass(frozen=True)
class WindowUsage:
    """A window and what is in it. `left` is what messages, summary and hits may have.

    `counter` says who counted: tiktoken, or our estimate. `host` names the blocks that an
    assistant's own limit for hooks cuts already.
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


def run(place: Place, window: int = 0) -> WindowUsage:
    """Weigh the brief of a place against the configured window, or one of so many tokens."""
    budget = budgets.load_budget(config.load(place), window)
    counter = token_counter.load_counter()
    brief = brief_text.compose_within(place, budget.share("blocks"))
    usual = brief_text.compose_brief(place)[0]
    pinned = render.sort_blocks([block for block in blocks.load(place) if block.pinned])
    guidance = counter.count(resources.read_text("templates", "guidance.md"))
    sections = [WindowSection("instructions", guidance, guidance)]
    cut = []
    for block in pinned:
        whole = render.section(block)
        tokens = counter.count(whole)
        sections.append(WindowSection(block.label, tokens, counter.count(_shown(whole, brief))))
        if whole not in usual:
            cut.append(block.label)
    named = counter.count(brief) - sum(section.shown for section in sections)
    sections.append(WindowSection("names of other blocks and tools", max(0, named), max(0, named)))
    return WindowUsage(budget, tuple(sections), counter.name, tuple(cut))


def for_task(
    kept: IndexSession, task: str, limit: int = 0, compression: Compression | None = None
) -> Context:
    """Compose what memory holds for a task, in at most `limit` tokens; 0: as configured.

    From the kinds that are configured. Raises `MemfsError` for no task, or a limit too small for
    anything.
    """
    if not task.strip():
        raise UsageError("which task?", 'memfs context --task "fix the flaky test"')
    found = orchestrator.for_session(kept)
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
