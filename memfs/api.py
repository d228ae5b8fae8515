"""The Python door: the operations of the command line, typed, without printing.

Used as `memory = memfs.open(".")`, then `memory.append("human", "Name: Alice")`,
`memory.undo("human")` or `memory.search("what did we decide about retries")`.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, assert_never

from memfs.core.body_edits import (
    Append,
    Create,
    Delete,
    Describe,
    Edit,
    Insert,
    Rejected,
    Remove,
    Rename,
    Replace,
    Rethink,
)
from memfs.core.errors import RejectedError
from memfs.core.records import Hit, JournalEntry, Origin, SessionHit
from memfs.ops import archive, context, edit, history, search, show
from memfs.ops.edit import Edited, Unchanged
from memfs.recall.index_session import IndexSession
from memfs.search.engine import Filter
from memfs.store import blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.core.block import Block
    from memfs.knowledge.orchestrator import Orchestrator
    from memfs.search.engine import Mode
    from memfs.store.blocks import Place


def open_memory(path: str | os.PathLike[str] = ".", session: str = "") -> Memory:
    """Open the memory of a folder: the nearest project store, and the user's.

    `session` names the session whose scratch block is meant. Raises `MemfsError` if there is no
    store.
    """
    return Memory(os.fspath(path), session)


class Memory:
    """The stores that serve a folder.

    Every edit raises `RejectedError` (a `MemfsError` with `message` and `hint`) if a rule of its
    block forbids it; nothing was changed then.
    """

    def __init__(self, path: str, session: str = "") -> None:
        self._place = blocks.find_place(path, session)
        if self._place.aside:
            warnings.warn(
                f"the store's local/ was not made by memfs here: it is in {self._place.aside} now",
                stacklevel=3,
            )
        self._origin = Origin("agent", "python", session)
        self._kept: IndexSession | None = None

    @property
    def place(self) -> Place:
        """Where this memory is: what kinds of memory are made for."""
        return self._place

    def orchestrator(self) -> Orchestrator:
        """Return the kinds of memory that are configured (`memory_blocks`), as one.

        It stores into several of them at once, and composes one context from all.
        """
        from memfs.knowledge import orchestrator  # with every kind: most programs need none

        return orchestrator.for_session(self._index())

    def blocks(self) -> list[Block]:
        """Return the blocks of all tiers, nearest tier first."""
        return blocks.load(self._place)

    def show(self, label: str, version: int | str = "") -> Block:
        """Return a block as it is, or as it was at a version or a commit.

        Raises `NotFoundError`.
        """
        return show.run(self._place, label, str(version)).block

    def brief(self) -> str:
        """Return the text an assistant is given when a session starts."""
        return show.brief(self._place)

    def context(self, task: str, budget: int = 0) -> str:
        """Return what memory holds for a task, in at most `budget` tokens (0: as configured)."""
        return context.for_task(self._index(), task, budget).text

    def edit(
        self, edits: Sequence[Edit], reason: str = "", expected_version: int | None = None
    ) -> tuple[JournalEntry, ...]:
        """Apply several edits, all or none; return the journal entries (none if nothing changed).

        `expected_version` makes the first edit a compare-and-swap.
        """
        origin = Origin(self._origin.actor, self._origin.host, self._origin.session, reason)
        outcome = edit.run(self._place, list(edits), origin, [expected_version])
        match outcome:
            case Edited():
                return outcome.entries
            case Unchanged():
                return ()
            case Rejected():
                raise RejectedError(outcome.message, outcome.hint)
            case _:
                assert_never(outcome)

    def append(self, label: str, text: str) -> tuple[JournalEntry, ...]:
        """Add `text` on a new line at the end of a block."""
        return self.edit([Append(label, text)])

    def replace(
        self, label: str, old: str, new: str, *, every: bool = False
    ) -> tuple[JournalEntry, ...]:
        """Replace `old`, which must occur exactly once unless `every` is set."""
        return self.edit([Replace(label, old, new, every)])

    def remove(self, label: str, text: str, *, every: bool = False) -> tuple[JournalEntry, ...]:
        """Remove `text`, which must occur exactly once unless `every` is set."""
        return self.edit([Remove(label, text, every)])

    def insert(self, label: str, line: int, text: str) -> tuple[JournalEntry, ...]:
        """Insert `text` after line `line`: 0 is before the first, -1 at the end."""
        return self.edit([Insert(label, line, text)])

    def rethink(self, label: str, text: str) -> tuple[JournalEntry, ...]:
        """Write the whole body of a block."""
        return self.edit([Rethink(label, text)])

    def create(
        self, label: str, description: str, value: str = "", limit: int = 0
    ) -> tuple[JournalEntry, ...]:
        """Make a new block; `limit` (characters) 0 is the configured default."""
        return self.edit([Create(label, description, value, limit)])

    def delete(self, label: str) -> tuple[JournalEntry, ...]:
        """Delete a block; its text stays in the journal."""
        return self.edit([Delete(label)])

    def rename(self, label: str, new: str) -> tuple[JournalEntry, ...]:
        """Give a block another label in its tier."""
        return self.edit([Rename(label, new)])

    def describe(self, label: str, **keys: object) -> tuple[JournalEntry, ...]:
        """Set front matter keys of a block; None removes one."""
        return self.edit([Describe(label, keys)])

    def log(self, label: str = "", limit: int = 0) -> list[JournalEntry]:
        """Return what the journal and git know, newest first, of one block or of all.

        What git alone knows has the operation `commit` and the author as actor.
        """
        return history.log(self._place, label, limit)

    def undo(self, label: str) -> tuple[JournalEntry, ...]:
        """Take back the last edit of a block that was not undone yet."""
        return history.undo(self._place, label, self._origin).entries

    def restore(self, label: str, version: int | str) -> tuple[JournalEntry, ...]:
        """Make an earlier version (-1: the one before) or a commit's current; () if it is."""
        return history.restore(self._place, label, str(version), self._origin).entries

    def archive(self, text: str, *, importance: int = 5, tags: Sequence[str] = ()) -> str:
        """Keep a passage for the long term; return its id, or that of one that says the same."""
        kept = archive.run(
            self._place, text, importance=importance, tags=tuple(tags), origin=self._origin
        )
        return kept.id

    def search(
        self,
        query: str,
        *,
        mode: Mode | None = None,
        only: Filter | None = None,
        limit: int = 5,
        page: int = 1,
    ) -> list[Hit]:
        """Return a page of hits in recall, archive and blocks, best first.

        By words and meaning if no `mode` says otherwise, by words alone where `embedding` is none
        or the model cannot be used. The index stays open: the next search opens only what changed.
        """
        return search.run(
            self._index(), query, mode=mode, only=only or Filter(), limit=limit, page=page
        ).hits

    def sessions(
        self,
        query: str,
        *,
        mode: Mode | None = None,
        only: Filter | None = None,
        limit: int = 5,
        page: int = 1,
    ) -> list[SessionHit]:
        """Return a page of the sessions that say most about it, best first, with their best turns.

        `search` finds single turns; what several of them tell together is found here.
        """
        return search.search_sessions(
            self._index(), query, mode=mode, only=only or Filter(), limit=limit, page=page
        ).hits

    def warm(self) -> None:
        """Get ready for many searches in a large memory (20,000 passages and more).

        For a million passages that takes some minutes the first time, then a second or two.
        """
        self._index().warm()

    def _index(self) -> IndexSession:
        if self._kept is None:
            self._kept = IndexSession(self._place)
        return self._kept
