"""Data sources, as methods."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, assert_never

from memfs import hosts
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
from memfs.core.records import JournalEntry, Origin
from memfs.ops import edit, undo
from memfs.ops.edit import Edited, Unchanged
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from memfs.ops.source import ListedSource


class BlockEdits:
    """Edits of the blocks of a place, each with its `reason`, which the history keeps.

    They return the new entries of the journal, and raise `RejectedError` (a `MemfsError` with
    `message` and `hint`) if a rule of the block forbids the edit; nothing was changed then.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._origin = Origin("agent", hosts.PROGRAM, place.session)

    def edit(
        self, edits: Sequence[Edit], reason: str = "", expected_version: int | None = None
    ) -> tuple[JournalEntry, ...]:
        """Apply several edits, all or none; return the journal entries (none if nothing changed).

        `expected_version` makes the first edit a compare-and-swap.
        """
        outcome = edit.run(self._place, list(edits), self._make_origin(reason), [expected_version])
        match outcome:
            case Edited():
                return outcome.entries
            case Unchanged():
                return ()
            case Rejected():
                raise RejectedError(outcome.message, outcome.hint)
            case _:
                assert_never(outcome)

    def append(self, label: str, text: str, *, reason: str = "") -> tuple[JournalEntry, ...]:
        """Add `text` on a new line at the end of a block, unless its last section has it."""
        return self.edit([Append(label, text)], reason)

    def replace(
        self, label: str, old: str, new: str, *, every: bool = False, reason: str = ""
    ) -> tuple[JournalEntry, ...]:
        """Replace `old`, which must occur exactly once unless `every` is set."""
        return self.edit([Replace(label, old, new, every)], reason)

    def remove(
        self, label: str, text: str, *, every: bool = False, reason: str = ""
    ) -> tuple[JournalEntry, ...]:
        """Remove `text`, which must occur exactly once unless `every` is set."""
        return self.edit([Remove(label, text, every)], reason)

    def insert(
        self, label: str, line: int, text: str, *, reason: str = ""
    ) -> tuple[JournalEntry, ...]:
        """Insert `text` after line `line`: 0 is before the first, -1 at the end."""
        return self.edit([Insert(label, line, text)], reason)

    def rethink(self, label: str, text: str, *, reason: str = "") -> tuple[JournalEntry, ...]:
        """Write the whole body of a block."""
        return self.edit([Rethink(label, text)], reason)

    def create(
        self, label: str, description: str, value: str = "", limit: int = 0, *, reason: str = ""
    ) -> tuple[JournalEntry, ...]:
        """Make a new block; `limit` (characters) 0 is the configured default."""
        return self.edit([Create(label, description, value, limit)], reason)

    def delete(self, label: str, *, reason: str = "") -> tuple[JournalEntry, ...]:
        """Delete a block; its text stays in the journal."""
        return self.edit([Delete(label)], reason)

    def rename(self, label: str, new: str, *, reason: str = "") -> tuple[JournalEntry, ...]:
        """Give a block another label in its tier."""
        return self.edit([Rename(label, new)], reason)

    def describe(self, label: str, *, reason: str = "", **keys: object) -> tuple[JournalEntry, ...]:
        """Set front matter keys of a block; None removes one."""
        return self.edit([Describe(label, keys)], reason)

    def undo(self, label: str, *, reason: str = "") -> tuple[JournalEntry, ...]:
        """Take back the last edit of a block that was not undone yet."""
        return undo.undo_edit(self._place, label, self._make_origin(reason)).entries

    def restore(
        self, label: str, version: int | str, *, reason: str = ""
    ) -> tuple[JournalEntry, ...]:
        """Make an earlier version (-1: the one before) or a commit's current; () if it is."""
        return undo.restore_version(
            self._place, label, str(version), self._make_origin(reason)
        ).entries

    def _make_origin(self, reason: str) -> Origin:
        return self._origin._replace(reason=reason)


class SourceMethods(BlockEdits):
    """Folders and files outside of the memory that `search` looks into, too."""

    def sources(self) -> list[ListedSource]:
        """Return the sources of the project and the user, each with the state of its index."""
        found: list[ListedSource] = load_op("source").list_sources(self._place)[0]
        return found

    def add_source(
        self,
        name: str,
        *paths: str | os.PathLike[str],
        globs: Sequence[str] = (),
        excludes: Sequence[str] = (),
        chunk_size: int | None = None,
        overlap: int | None = None,
        user: bool = False,
    ) -> ListedSource:
        """Add a source to the configuration of the project (or the user), and index it.

        `globs` and `excludes` are patterns as in `.gitignore`. Raises `RejectedError` for a name
        that is taken, and for a project that the user has not trusted.
        """
        op = load_op("source")
        done = op.add(
            self._place,
            name,
            [os.fspath(path) for path in paths],
            self._make_origin(""),
            ignore_progress,
            globs=globs,
            excludes=excludes,
            chunk_size=chunk_size,
            overlap=overlap,
            user=user,
        )
        if done.state is None:
            raise RejectedError(
                "the source is not indexed: you have not trusted the store",
                "review the store, and decide whether to trust it: memfs trust",
            )
        named = f"user:{done.name}" if user else done.name
        found: ListedSource = op.find_source(self._place, named)
        return found

    def sync_sources(self, name: str = "") -> list[ListedSource]:
        """Index changed files of a source, or of all."""
        found: list[ListedSource] = load_op("source").sync(self._place, name, ignore_progress)
        return found

    def remove_source(self, name: str) -> None:
        """Remove a source and its index; its files stay."""
        load_op("source").remove(self._place, name, self._make_origin(""))


def load_op(name: str) -> Any:
    """Import an operation at its first use: models, extraction and documents take 0.1 seconds."""
    return import_module(f"memfs.ops.{name}")


def ignore_progress(_name: str, _length: int) -> Callable[[int], object]:
    """Return the callback of a stage whose progress nobody sees."""
    return lambda _more: None
