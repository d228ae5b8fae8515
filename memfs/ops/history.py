"""The history of blocks: log, diff, one version, undo, restore."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.core import changes as compare
from memfs.core import frontmatter, yamlhead
from memfs.core import label as labels
from memfs.core.block import MANAGED
from memfs.core.errors import NotFoundError, RejectedError
from memfs.store import autocommit, blocks, clock, files, journal, writer
from memfs.store import history as versions
from memfs.store.writer import Change

if TYPE_CHECKING:
    from memfs.core.records import Entry, Origin
    from memfs.store.blocks import Place

UNDO = "undo"
_MANAGED_LINES = tuple(f"{key}:" for key in MANAGED)


@dataclass(frozen=True)
class Undone:
    """What an undo took back, the entries it made, and why they were not committed (or "")."""

    undone: Entry
    entries: tuple[Entry, ...]
    note: str


@dataclass(frozen=True)
class Restored:
    """The entries that a restoration made, and why they were not committed (or "")."""

    entries: tuple[Entry, ...]
    note: str = ""


@dataclass(frozen=True)
class Diff:
    """A unified diff between two versions of a block; "" if they are equal."""

    label: str
    old: int
    new: int
    text: str


def log(place: Place, label: str = "", limit: int = 0) -> list[Entry]:
    """Return journalled edits, newest first, of one block or of all tiers."""
    found = versions.of(place, label) if label else versions.every(place)
    found.sort(key=lambda entry: (entry.at, entry.id), reverse=True)
    return found[:limit] if limit else found


def diff(place: Place, label: str, old: int | None = None, new: int | None = None) -> Diff:
    """Compare two versions; by default the one before the last edit with the file as it is."""
    entries = versions.of(place, label)
    if not entries:
        blocks.get(place, label)
        return Diff(label, 0, 0, "")
    newest = entries[-1].version
    new = newest if new is None else new
    old = new - 1 if old is None else old
    after = entries[-1].after if new == newest else versions.version(place, label, new)
    try:
        before: str | None = versions.version(place, label, old)
    except NotFoundError:
        if old != entries[0].version - 1 or entries[0].before is not None:
            raise
        before = None
    name = entries[-1].label
    text = compare.unified(_shown(before), _shown(after), f"{name}@{old}", f"{name}@{new}")
    return Diff(label, old, new, text)


def undo(place: Place, label: str, origin: Origin) -> Undone:
    """Take back the last edit that was not undone yet: the file gets its earlier bytes back."""
    tier, name = versions.resolve(place, label)
    with writer.writing(place.store(tier), place) as made:
        now, _ = made.settle(tier, name, _path(place, tier, name))
        _refuse_read_only("undo", name, now)
        target = _undoable(versions.entries(place, tier, name))
        if target is None:
            raise NotFoundError(f"there is nothing to undo in '{label}'", f"see memfs log {label}")
        changes = []
        for entry in _together(place, made, target):
            path = _path(place, entry.tier, entry.label)
            text, number = made.settle(entry.tier, entry.label, path)
            changes.append(
                Change(entry.tier, entry.label, path, text, entry.before, UNDO, number + 1,
                       f"undo of version {entry.version}")
            )  # fmt: skip
        entries = tuple(made.commit(changes, origin))
    return Undone(target, entries, autocommit.edited(place, changes, origin))


def restore(place: Place, label: str, number: int, origin: Origin) -> Restored:
    """Make an earlier version current again, as a new version; no entry if it is current."""
    text = versions.version(place, label, number)
    tier, name = versions.resolve(place, label)
    with writer.writing(place.store(tier), place) as made:
        path = _path(place, tier, name)
        now, current = made.settle(tier, name, path)
        _refuse_read_only("restore", name, now)
        block = blocks.make(tier, name, path, text)
        if block.version:
            managed = {
                "version": current + 1, "updated_at": clock.now(), "updated_by": origin.actor,
            }  # fmt: skip
            head = yamlhead.write(block.head, managed, frontmatter.line_end(text))
            text = head + block.body
        if now is not None and _unmanaged(now) == _unmanaged(text):
            return Restored(())
        change = Change(tier, name, path, now, text, "restore", current + 1, f"version {number}")
        entries = tuple(made.commit([change], origin))
    return Restored(entries, autocommit.edited(place, [change], origin))


def _undoable(entries: list[Entry]) -> Entry | None:
    """Return the last edit that no undo has taken back: undos pair with what is before them.

    What `memfs init` made is not undone: that is what `delete` is for.
    """
    skip = 0
    for entry in reversed(entries):
        if entry.op == UNDO:
            skip += 1
        elif skip:
            skip -= 1
        else:
            return None if entry.op == "create" and entry.actor == "system" else entry
    return None


def _together(place: Place, made: writer.Writer, target: Entry) -> list[Entry]:
    """Return what is undone together: both sides of a rename, else the one entry."""
    if target.op != "rename":
        return [target]
    mates = [
        entry
        for entry in journal.read(place.store(target.tier))
        if entry.group == target.group and entry.op == "rename" and entry.id != target.id
        and target.reason.startswith(f"{'to' if target.after is None else 'from'} {entry.label}")
    ]  # fmt: skip
    for mate in mates:
        head = made.head(mate.tier, mate.label)
        if head is None or head.id != mate.id:
            raise RejectedError(
                f"cannot undo the rename of '{mate.label}' to '{target.label}': there is a newer "
                f"'{mate.label}'",
                f"rename it back under another label: memfs rename {target.label} LABEL",
            )
    return [target, *mates]


def _refuse_read_only(verb: str, label: str, text: str | None) -> None:
    if text is not None and blocks.make("", label, "", text).read_only:
        raise RejectedError(
            f"cannot {verb} '{label}': it is read-only",
            "a person can change that in its file (read_only: false)",
        )


def _unmanaged(text: str) -> tuple[dict[str, object], str]:
    block = blocks.make("", "", "", text)
    return {key: value for key, value in block.meta.items() if key not in MANAGED}, block.body


def _path(place: Place, tier: str, label: str) -> str:
    found = blocks.locate(place, labels.qualified(tier, label))
    return found[2] if found else blocks.path_of(place, tier, label)


def _shown(text: str | None) -> str:
    """Return a text as a diff shows it: without the keys that every edit changes."""
    if text is None:
        return ""
    head, body = frontmatter.split(text)
    kept = [line for line in head.splitlines(keepends=True) if not line.startswith(_MANAGED_LINES)]
    return files.encode("".join(kept) + body).decode("utf-8", "replace")
