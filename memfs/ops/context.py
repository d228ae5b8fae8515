"""The context of a session: weighed against a window, or composed for a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.context import assemble as assembling
from memfs.context import budget as budgets
from memfs.context import compose, counting, paging, pulled
from memfs.context.assemble import Assembled, Compression, Piece
from memfs.core import label as labels
from memfs.core import render
from memfs.core.errors import USAGE, MemfsError, StoreError
from memfs.memory import facts
from memfs.store import blocks, config, layout, shipped, static

if TYPE_CHECKING:
    from memfs.context.budget import Budget
    from memfs.core.block import Block
    from memfs.core.records import Hit
    from memfs.memory.kept import Kept
    from memfs.search.engine import Mode
    from memfs.store.blocks import Place

_MOST = 150  # hits that are weighed
_MOST_FACTS = 15
_ABOUT = 0.6  # relevance from which on a static entry has to do with a task
_LOOKED_AT = 600  # characters of it
_LEAST = 64  # tokens of a context
_SURE = 0.9  # of a limit, where tokens are estimated
_COMPRESSION = "orchestrator.compression"
_PRIORITIES = {"fact": 0.5, "static": 0.5, "passage": 1.0, "block": 1.0, "message": 1.0}


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


def for_task(
    kept: Kept, task: str, limit: int = 0, compression: Compression | None = None
) -> Assembled:  # fmt: skip
    """Compose what memory holds for a task, in at most `limit` tokens; 0: as configured.

    Archive, recall, facts, static entries, and blocks that are not pinned: the others are in
    context anyway. Raises `MemfsError` for no task, or a limit too small for anything.
    """
    if not task.strip():
        raise MemfsError("which task?", 'memfs context --task "fix the flaky test"', USAGE)
    project = kept.place.project
    if project is not None and not layout.trusted(project):
        raise StoreError(
            "you have not trusted this store: nothing of it is put before a model",
            "look at it, and decide: memfs trust",
        )
    settings = config.load(kept.place)
    limit = limit or settings.number("orchestrator.context_limit")
    if limit < _LEAST:
        raise MemfsError(f"{limit} tokens are too few", f"{_LEAST} or more", USAGE)
    how = compression or ("aggressive" if settings.get(_COMPRESSION) == "aggressive" else "smart")
    engine = kept.engine("hybrid")
    by: Mode = "text" if engine.vectors is None else "hybrid"
    hits = engine.search(task, mode=by, limit=_MOST).hits
    pinned = {_key(b) for b in blocks.load(kept.place) if b.pinned}
    pieces = [_piece(hit) for hit in hits if hit.id not in pinned]
    pieces += [
        Piece(fact.id, "fact", fact.statement, score, "facts", "facts from past sessions", fact.at)
        for score, fact in facts.relevant(facts.every(kept.place), task, _MOST_FACTS)
    ]
    pieces += _entries(kept.place, task)
    counter = counting.counter()
    # Where nobody can count exactly, less is taken.
    room = limit if counter.exact else int(limit * _SURE)
    return assembling.assemble(pieces, _PRIORITIES, room, counter.count, how)


def _entries(place: Place, task: str) -> list[Piece]:
    """Return the static entries that a task is about."""
    some = [entry for _, store in place.lasting() for entry in static.every(store)]
    near = paging.relevances(task, [f"{entry.key} {entry.text[:_LOOKED_AT]}" for entry in some])
    return [
        Piece(entry.key, "static", entry.text, score, f"static/{entry.key}", f"static {entry.key}")
        for score, entry in zip(near, some, strict=True)
        if score >= _ABOUT
    ]


def _piece(hit: Hit) -> Piece:
    if hit.kind == "message":
        who = f"({hit.host})" if hit.host else ""
        head = " ".join(part for part in (hit.at[:10], "session", hit.session, who) if part)
        group = f"{hit.host}/{hit.session}/{hit.at[:10]}"
        return Piece(hit.id, hit.kind, hit.text, hit.score, group, head, hit.at, hit.role)
    name = f"block {hit.label}" if hit.kind == "block" else f"{hit.at[:10]}, passage {hit.id}"
    return Piece(hit.id, hit.kind, hit.text, hit.score, hit.id, name, hit.at)


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
