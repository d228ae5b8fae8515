"""Writing blocks: lock, re-read, journal, rename. What is acknowledged survives a kill."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.core import label as labels
from memfs.core.errors import MemfsError
from memfs.core.records import Entry, Origin, block_key
from memfs.store import blocks, clock, files, journal, layout, lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memfs.store.blocks import Place
    from memfs.store.journal import Head, Heads
    from memfs.store.layout import Store

ADOPT = "adopt"


@dataclass(frozen=True)
class Change:
    """One file to be written; `after` None removes it. `version` is the block's afterwards."""

    tier: str
    label: str
    path: str
    before: str | None
    after: str | None
    op: str
    version: int
    reason: str = ""


class Writer:
    """One locked store. Made by `writing`, which has rolled an interrupted edit forward."""

    def __init__(self, store: Store, place: Place, heads: Heads) -> None:
        self.store = store
        self.place = place
        self._heads = heads

    def head(self, tier: str, label: str) -> Head | None:
        """Return the newest journalled state of a block."""
        key = block_key(self.store.tree, tier, self.place.session, label)
        return self._heads.by_key.get(key)

    def settle(self, tier: str, label: str, path: str) -> tuple[str | None, int]:
        """Return (text, version) of a block as it is now, adopting an edit made behind our back.

        A block that the journal does not know yet has the version its file names, or 1.
        """
        text = files.read(path, cap=1 << 40)
        head = self.head(tier, label)
        if head is None:
            return text, 0 if text is None else self.named_version(tier, label, path, text) or 1
        if journal.digest(text) == head.digest:
            return text, head.version
        last = journal.entry_at(self.store, head.offset)
        before = last.after if last else None
        change = Change(tier, label, path, before, text, ADOPT, head.version + 1)
        self._journal([change], Origin("user", reason="changed outside memfs"))
        return text, head.version + 1

    @staticmethod
    def named_version(tier: str, label: str, path: str, text: str) -> int:
        """Return the version that the front matter of a file names, 0 for none."""
        return blocks.make(tier, label, path, text).version

    def commit(self, changes: list[Change], origin: Origin) -> list[Entry]:
        """Journal the changes durably, then write the files. All of them count, or none.

        An error takes everything back, the journal's lines too; after a kill, the next opening
        writes what the journal holds.
        """
        before = journal.size(self.store)
        entries, after = self._append(changes, origin)
        try:
            for change in changes:
                apply(change.path, change.after, private=self._private(change.tier))
        except BaseException:
            for change in changes:
                if files.read(change.path, cap=1 << 40) != change.before:
                    apply(change.path, change.before, private=self._private(change.tier))
            journal.cut(self.store, before)
            raise
        self._save(after)
        return entries

    def _journal(self, changes: list[Change], origin: Origin) -> None:
        _, after = self._append(changes, origin)
        self._save(after)

    def _append(self, changes: list[Change], origin: Origin) -> tuple[list[Entry], Heads]:
        group = (clock.unique(), len(changes)) if len(changes) > 1 else None
        at = clock.now()
        entries = [
            Entry(
                clock.unique(), at, origin.actor, origin.host,
                self.place.session if change.tier == labels.SESSION else origin.session,
                change.tier, change.label, change.op, _reason(change, origin),
                change.version, change.before, change.after, self.store.tree, group,
            )
            for change in changes
        ]  # fmt: skip
        offsets = journal.append(self.store, entries)
        end = journal.size(self.store)
        return entries, journal.advance(self._heads, list(zip(offsets, entries, strict=True)), end)

    def _save(self, heads: Heads) -> None:
        self._heads = heads
        journal.save_heads(self.store, heads)

    def _private(self, tier: str) -> bool:
        return self.store.private or tier == labels.SESSION


@contextmanager
def writing(store: Store, place: Place) -> Iterator[Writer]:
    """Lock a store for writing and bring journal and files into agreement."""
    with lock.hold(store):
        yield Writer(store, place, _recover(store, place))


def _reason(change: Change, origin: Origin) -> str:
    """Return why, with what the operation itself has to say before the editor's words."""
    return ": ".join(part for part in (change.reason, origin.reason) if part)


def apply(path: str, text: str | None, *, private: bool) -> None:
    """Make a file hold `text`, durably; None removes it."""
    if text is None:
        if files.remove(path):
            files.sync_folder(os.path.dirname(path))
        return
    files.make_folder(os.path.dirname(path), private=private)
    files.write(path, text, private=private)


def _recover(store: Store, place: Place) -> Heads:
    """Cut a torn last line off the journal and roll the last edit forward if it was interrupted."""
    known = journal.load_heads(store)
    size = journal.size(store)
    if known is not None and known.offset == size:
        return known
    fresh = known is None or known.offset > size
    start = journal.Heads(0, {}) if fresh or known is None else known
    entries, _, end = journal.since(store, start.offset)
    if end < size:
        journal.cut(store, end)
    for _, entry in _unconfirmed(entries, everything=not fresh):
        try:
            _roll_forward(store, place, entry)
        except (PermissionError, IsADirectoryError, NotADirectoryError, MemfsError):
            continue  # it was never acknowledged; the file as it is will be adopted
    files.sweep(journal.heads_path(store))
    heads = journal.advance(start, entries, end)
    journal.save_heads(store, heads)
    return heads


def _unconfirmed(entries: list[tuple[int, Entry]], *, everything: bool) -> list[tuple[int, Entry]]:
    """Return the entries whose files may not be written: without heads, the last edit alone."""
    if everything or not entries:
        return entries
    last = entries[-1][1]
    return [
        pair for pair in entries if pair[1] is last or (last.group and pair[1].group == last.group)
    ]


def _roll_forward(store: Store, place: Place, entry: Entry) -> None:
    if entry.op == ADOPT:
        return
    private = store.private or entry.tier == labels.SESSION
    if entry.tier == labels.SESSION:
        root, folder = store.local, store.session(entry.session)
    else:
        tree = layout.root_of_tree(store, entry.tree)
        if tree is None:
            return
        root, folder = tree, f"{tree}/blocks"
    path = files.contained(f"{folder}/{entry.label}{blocks.SUFFIX}", root)
    if entry.tier != labels.SESSION and entry.tree == store.tree:
        located = blocks.locate(place, labels.qualified(entry.tier, entry.label))
        path = located[2] if located else path  # a person may have named the file otherwise
    files.sweep(path)
    now = files.read(path, cap=1 << 40)
    if now != entry.after and now == entry.before:
        apply(path, entry.after, private=private)
