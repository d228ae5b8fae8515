"""Writing blocks: lock, re-read, journal, rename. What is acknowledged survives a kill."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from memfs import files
from memfs.core import label as labels
from memfs.core.errors import MemfsError
from memfs.core.records import JournalEntry, Origin, block_key
from memfs.files import atomic, logs
from memfs.secrets import redact
from memfs.store import blocks, clean_texts, clock, commits, journal, lock, quarantine, store_paths
from memfs.store.blocks import Place
from memfs.store.journal import ADOPT, JournalHead, JournalHeads
from memfs.store.store_paths import Store


class Change(NamedTuple):
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

    def __init__(self, store: Store, place: Place, heads: JournalHeads) -> None:
        self.store = store
        self.place = place
        self._heads = self._after = heads
        self._changes: list[Change] = []
        self._entries: list[JournalEntry] = []
        self._before = heads.offset

    def get_head(self, tier: str, label: str) -> JournalHead | None:
        """Return the newest journalled state of a block."""
        key = block_key(self.store.tree, tier, self.place.session, label)
        return self._heads.by_key.get(key)

    def adopt_current(
        self, tier: str, label: str, path: str, origin: Origin | None = None
    ) -> tuple[str | None, int]:
        """Return (text, version) of a block as it is now; journal an edit made outside memfs.

        `origin` is whose edit that is; None: git is asked. A block that the journal does not have
        yet has the version its file names, or 1. Raises `StoreError` for a file that is too large.
        """
        quarantine.check_writable(self.store, path)
        text = blocks.read_whole_block(path)
        head = self.get_head(tier, label)
        if head is None:
            return text, 0 if text is None else blocks.make(tier, label, path, text).version or 1
        if journal.digest(text) == head.digest:
            return text, head.version
        last = journal.entry_at(self.store, head.offset)
        before = last.after if last else None
        change = Change(tier, label, path, before, text, ADOPT, head.version + 1)
        self.journal([change], origin or _find_origin(path, text), "", [])
        self.confirm()
        return text, head.version + 1

    def adopt(self, tier: str, label: str, path: str, origin: Origin | None = None) -> None:
        """Journal a block as it is now, also one that the journal does not know yet.

        `origin` is whose text that is; None: its commit's author, or the user.
        """
        text, version = self.adopt_current(tier, label, path, origin)
        if text is not None and self.get_head(tier, label) is None:
            change = Change(tier, label, path, None, text, ADOPT, version)
            self.journal([change], origin or _find_origin(path, text), "", [])
            self.confirm()

    def commit(self, changes: list[Change], origin: Origin) -> list[JournalEntry]:
        """Journal the changes durably, then write the files. All of them count, or none."""
        return commit([(self, changes)], origin)

    def journal(self, changes: list[Change], origin: Origin, patch: str, tied: list[str]) -> None:
        """Journal changes durably; `patch` is what ties them together, `tied` other journals."""
        for change in changes:
            quarantine.check_writable(self.store, change.path)
        self._before = journal.get_size(self.store)
        self._changes = changes
        group = (patch, len(changes)) if tied or len(changes) > 1 else None
        at = clock.now()
        session = redact(origin.session)
        self._entries = [
            JournalEntry(
                clock.unique(),
                at,
                origin.actor,
                origin.host,
                self.place.session if tier == labels.SESSION else session,
                tier,
                label,
                op,
                ": ".join(filter(None, (reason, origin.reason))),
                version,
                _redact_text(before),
                _redact_text(after),
                self.store.tree,
                group,
                tuple(tied),
                digest="" if _redact_text(after) == after else journal.digest(after),
            )
            for tier, label, _, before, after, op, version, reason in changes
        ]
        offsets = journal.append(self.store, self._entries)
        placed = list(zip(offsets, self._entries, strict=True))
        self._after = journal.advance(self._heads, placed, journal.get_size(self.store))

    def write(self) -> None:
        """Write the files of what was journalled."""
        for change in self._changes:
            apply(change.path, change.after, private=self._is_private(change.tier))

    def put_back(self) -> None:
        """Restore the earlier texts of the files after an error."""
        for change in self._changes:
            if files.read(change.path) != change.before:
                apply(change.path, change.before, private=self._is_private(change.tier))

    def take_back(self) -> None:
        """Remove the lines from the journal again."""
        if journal.get_size(self.store) > self._before:
            logs.truncate_log(self.store.journal, self._before)

    def confirm(self) -> list[JournalEntry]:
        """Save that journal and files agree; return the entries."""
        self._heads = self._after
        journal.save_heads(self.store, self._heads)
        user = self.place.user
        if user is None or user.root == store_paths.user_root():  # else it is of a measurement
            pairs = zip(self._changes, self._entries, strict=True)
            clean_texts.note_clean([c.after for c, entry in pairs if c.after and not entry.digest])
        return self._entries

    def _is_private(self, tier: str) -> bool:
        return self.store.private or tier == labels.SESSION


@contextmanager
def writing(store: Store, place: Place) -> Iterator[Writer]:
    """Lock a store for writing and bring journal and files into agreement."""
    with lock.hold_lock(store):
        yield Writer(store, place, _recover(store, place))


def commit(parts: list[tuple[Writer, list[Change]]], origin: Origin) -> list[JournalEntry]:
    """Commit changes of one or several stores: all of them count, or none.

    An error takes everything back, the journals' lines too. After a kill, the next opening of a
    store writes what its journal holds, unless the journal of another store lacks its part.
    """
    patch = clock.unique()
    journals = [writer.store.journal for writer, _ in parts]
    begun: list[Writer] = []
    try:
        for writer, changes in parts:
            begun.append(writer)
            others = [path for path in journals if path != writer.store.journal]
            writer.journal(changes, origin, patch, others)
        for writer in begun:
            writer.write()
    except BaseException:
        # Where even this fails (a disk that stays full), the journals stay, and the next opening
        # finishes the edit: half of it is never left.
        for writer in reversed(begun):
            writer.put_back()
        for writer in reversed(begun):
            writer.take_back()
        raise
    return [entry for writer in begun for entry in writer.confirm()]


def _find_origin(path: str, text: str | None) -> Origin:
    """Find who wrote a text found on the disk: a commit's author, else the user."""
    commit = commits.source(path, text)
    if commit is None:
        return Origin("user", reason="changed outside memfs")
    return Origin(commit.author, reason=f"commit {commit.short}: {commit.subject}")


def _redact_text(text: str | None) -> str | None:
    return None if text is None else redact(text)


def apply(path: str, text: str | None, *, private: bool) -> None:
    """Make a file hold `text`, durably; None removes it."""
    if text is None:
        if files.remove(path):
            files.sync_folder(os.path.dirname(path))
        return
    files.make_folder(os.path.dirname(path), private=private)
    atomic.write(path, text, private=private, locked=True)


def _recover(store: Store, place: Place) -> JournalHeads:
    """Cut a torn last line off the journal and roll the last edit forward if it was interrupted."""
    known = journal.load_heads(store)
    size = journal.get_size(store)
    if known is not None and known.offset == size:
        return known
    fresh = known is None or known.offset > size
    start = journal.JournalHeads(0, {}) if fresh or known is None else known
    entries, end = journal.read_since(store, start.offset)
    pending = _list_unconfirmed(entries, everything=not fresh)
    void = next((at for at, entry in pending if not _is_complete(entry)), None)
    if void is not None:
        end = void
        entries, pending = ([pair for pair in part if pair[0] < end] for part in (entries, pending))
    if end < size:
        logs.truncate_log(store.journal, end)
    for _, entry in pending:
        try:
            _roll_forward(store, place, entry)
        except (PermissionError, IsADirectoryError, NotADirectoryError, MemfsError):
            continue  # it was never acknowledged; the file as it is will be adopted
    heads = journal.advance(start, entries, end)
    journal.save_heads(store, heads)
    return heads


def _is_complete(entry: JournalEntry) -> bool:
    return entry.group is None or all(
        journal.contains_patch(path, entry.group[0]) for path in entry.tied
    )


def _list_unconfirmed(
    entries: list[tuple[int, JournalEntry]], *, everything: bool
) -> list[tuple[int, JournalEntry]]:
    """List the entries whose files may not be written: without heads, only the last edit."""
    if everything or not entries:
        return entries
    last = entries[-1][1]
    return [
        pair for pair in entries if pair[1] is last or (last.group and pair[1].group == last.group)
    ]


def _roll_forward(store: Store, place: Place, entry: JournalEntry) -> None:
    if entry.op == ADOPT or entry.digest:  # of a text with a secret the journal has no copy
        return
    private = store.private or entry.tier == labels.SESSION
    if entry.tier == labels.SESSION:
        folder = store.session(entry.session)
    else:
        tree = store_paths.root_of_tree(store, entry.tree)
        if tree is None:
            return
        folder = f"{tree}/blocks"
    if labels.problem(entry.label):
        return  # none of ours: no edit is made under such a label
    path = f"{folder}/{entry.label}{blocks.SUFFIX}"
    if entry.tier != labels.SESSION and entry.tree == store.tree:
        located = blocks.resolve_label(place, labels.qualify(entry.tier, entry.label))
        path = located[2] if located else path  # a person may have named the file otherwise
    now = blocks.read_whole_block(path)
    waits = now != entry.after and _redact_text(now) == entry.before
    if waits and not _touched_since(path, store.journal):
        apply(path, entry.after, private=private)


def _touched_since(path: str, record: str) -> bool:
    """Tell whether a file was written after the journal was.

    Then the edit was done, and somebody (`git checkout`) gave the file its earlier text back.
    """
    written, recorded = files.status(path), files.status(record)
    return bool(written and recorded and written.st_mtime_ns > recorded.st_mtime_ns)
