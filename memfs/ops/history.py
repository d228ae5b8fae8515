"""The history of blocks: log, diff, one version, undo, restore."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memfs.core import changes as compare
from memfs.core import frontmatter, yamlhead
from memfs.core import label as labels
from memfs.core.block import MANAGED
from memfs.core.errors import NotFoundError
from memfs.store import blocks, clock, files, journal, writer
from memfs.store import history as versions
from memfs.store.writer import Change

if TYPE_CHECKING:
    from memfs.core.records import Entry, Origin
    from memfs.store.blocks import Place

UNDO = "undo"
_MANAGED_LINES = tuple(f"{key}:" for key in MANAGED)


@dataclass(frozen=True)
class Undone:
    """What an undo took back, and the entries it made."""

    undone: Entry
    entries: tuple[Entry, ...]


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
    with ExitStack() as stack:
        tier, name = versions.resolve(place, label)
        made = stack.enter_context(writer.writing(place.store(tier), place))
        _settle(place, made, tier, name)
        entries = versions.entries(place, tier, name)
        target = _undoable(entries)
        if target is None:
            raise NotFoundError(f"there is nothing to undo in '{label}'", f"see memfs log {label}")
        together = [target]
        if target.op == "rename" and target.group:
            everything = journal.read(place.store(tier))
            together = [entry for entry in everything if entry.group == target.group]
        changes = []
        for entry in together:
            path = _path(place, entry.tier, entry.label)
            now, number = made.settle(entry.tier, entry.label, path)
            changes.append(
                Change(entry.tier, entry.label, path, now, entry.before, UNDO, number + 1,
                       f"undo of version {entry.version}")
            )  # fmt: skip
        return Undone(target, tuple(made.commit(changes, origin)))


def restore(place: Place, label: str, number: int, origin: Origin) -> tuple[Entry, ...]:
    """Make an earlier version current again, as a new version; () if it is current already."""
    text = versions.version(place, label, number)
    tier, name = versions.resolve(place, label)
    with writer.writing(place.store(tier), place) as made:
        path = _path(place, tier, name)
        now, current = made.settle(tier, name, path)
        block = blocks.make(tier, name, path, text)
        if block.version:
            managed = {
                "version": current + 1, "updated_at": clock.now(), "updated_by": origin.actor,
            }  # fmt: skip
            head = yamlhead.write(block.head, managed, frontmatter.line_end(text))
            text = head + block.body
        if now is not None and _unmanaged(now) == _unmanaged(text):
            return ()
        reason = origin.reason or f"version {number}"
        change = Change(tier, name, path, now, text, "restore", current + 1, reason)
        return tuple(made.commit([change], replace(origin, reason=reason)))


def _undoable(entries: list[Entry]) -> Entry | None:
    """Return the last edit that no undo has taken back: undos pair with what is before them."""
    skip = 0
    for entry in reversed(entries):
        if entry.op == UNDO:
            skip += 1
        elif skip:
            skip -= 1
        else:
            return entry
    return None


def _unmanaged(text: str) -> tuple[dict[str, object], str]:
    block = blocks.make("", "", "", text)
    return {key: value for key, value in block.meta.items() if key not in MANAGED}, block.body


def _path(place: Place, tier: str, label: str) -> str:
    found = blocks.locate(place, labels.qualified(tier, label))
    return found[2] if found else blocks.path_of(place, tier, label)


def _settle(place: Place, made: writer.Writer, tier: str, label: str) -> None:
    made.settle(tier, label, _path(place, tier, label))


def _shown(text: str | None) -> str:
    """Return a text as a diff shows it: without the keys that every edit changes."""
    if text is None:
        return ""
    head, body = frontmatter.split(text)
    kept = [line for line in head.splitlines(keepends=True) if not line.startswith(_MANAGED_LINES)]
    return files.encode("".join(kept) + body).decode("utf-8", "replace")
