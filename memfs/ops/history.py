"""The history of blocks: log, diff, blame, undo, restore."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.core import changes as compare
from memfs.core import edits, yaml_edit
from memfs.core import label as labels
from memfs.core.blame import attribute
from memfs.core.errors import NotFoundError, RejectedError
from memfs.store import block_history, blocks, clock, journal, writer
from memfs.store import journal_query as versions
from memfs.store.writer import Change
from memfs.sync import instruction_sections

if TYPE_CHECKING:
    from memfs.core.block import Block
    from memfs.core.records import JournalEntry, Origin
    from memfs.store.blocks import Place

UNDO = "undo"


@dataclass(frozen=True)
class Undone:
    """What an undo took back, the entries it made, and why they were not committed or synced."""

    undone: JournalEntry
    entries: tuple[JournalEntry, ...]
    note: str


@dataclass(frozen=True)
class Restored:
    """The entries that a restoration made, and why they were not committed or synced (or "")."""

    entries: tuple[JournalEntry, ...]
    note: str = ""


@dataclass(frozen=True)
class Diff:
    """A unified diff between two states of a block (version or commit); "" if they are equal."""

    label: str
    old: str
    new: str
    text: str


@dataclass(frozen=True)
class BlameLine:
    """A line of a block, and the state that brought it; None for what was there before."""

    text: str
    source: JournalEntry | None


def log(place: Place, label: str = "", limit: int = 0) -> list[JournalEntry]:
    """Return what the journal and git know, newest first, of one block or of all tiers."""
    return block_history.read(place, label, limit)


def blame(place: Place, label: str) -> list[BlameLine]:
    """Return the lines of a block as it is, each with the edit or commit that brought it."""
    found = block_history.read(place, label)[::-1]
    block = blocks.get(place, label)
    states: list[tuple[str, JournalEntry | None]] = []
    if found and found[0].before is not None:
        states.append((_value(block, found[0].before), None))
    states += [(_value(block, entry.after), entry) for entry in found]
    states.append((block.value, None))
    return [BlameLine(text, source) for text, source in attribute(states)]


def diff(place: Place, label: str, old: str = "", new: str = "") -> Diff:
    """Compare two states; by default the one before the last change with the block as it is."""
    found = block_history.read(place, label)
    if not found:
        blocks.get(place, label)
        return Diff(label, "", "", "")
    last = found[0]
    if not old:
        earlier = "before" if last.op == block_history.COMMIT else str(last.version - 1)
        return _diff(label, earlier, _name(last), last.before, last.after)
    before = None if _is_start(old, found) else block_history.read_version(place, label, old)
    after = block_history.read_version(place, label, new) if new else last.after
    return _diff(label, old, new or _name(last), before, after)


def _diff(label: str, old: str, new: str, before: str | None, after: str | None) -> Diff:
    text = compare.of_blocks(before, after, f"{label}@{old}", f"{label}@{new}")
    return Diff(label, old, new, text)


def _name(entry: JournalEntry) -> str:
    return entry.commit[:7] if entry.op == block_history.COMMIT else str(entry.version)


def _is_start(wanted: str, found: list[JournalEntry]) -> bool:
    """Tell whether what is wanted is the state before there was anything."""
    journalled = [entry for entry in found if entry.op != block_history.COMMIT]
    if not journalled:
        return wanted == "0"
    first = min(journalled, key=lambda entry: entry.version)
    return first.before is None and wanted == str(first.version - 1)


def _value(block: Block, text: str | None) -> str:
    return "" if text is None else blocks.make(block.tier, block.label, "", text).value


def undo(place: Place, label: str, origin: Origin) -> Undone:
    """Take back the last edit that was not undone yet: the file gets its earlier bytes back."""
    _refuse_unkept(origin)
    tier, name = versions.resolve(place, label)
    with writer.writing(place.store(tier), place) as made:
        now, _ = made.adopt_current(tier, name, _path(place, tier, name))
        _refuse_read_only("undo", name, now)
        target = _undoable(versions.entries(place, tier, name))
        if target is None:
            raise NotFoundError(f"there is nothing to undo in '{label}'", f"see memfs log {label}")
        changes = []
        for entry in _together(place, made, target):
            path = _path(place, entry.tier, entry.label)
            text, number = made.adopt_current(entry.tier, entry.label, path)
            changes.append(
                Change(
                    entry.tier,
                    entry.label,
                    path,
                    text,
                    entry.before,
                    UNDO,
                    number + 1,
                    f"undo of version {entry.version}",
                )
            )
        entries = tuple(made.commit(changes, origin))
    return Undone(target, entries, instruction_sections.finish_edit(place, changes, origin))


def restore(place: Place, label: str, wanted: str, origin: Origin) -> Restored:
    """Make an earlier version, or a commit's, current again; no entry if it is current."""
    _refuse_unkept(origin)
    text = block_history.read_version(place, label, wanted)
    tier, name = versions.resolve(place, label)
    with writer.writing(place.store(tier), place) as made:
        path = _path(place, tier, name)
        now, current = made.adopt_current(tier, name, path)
        _refuse_read_only("restore", name, now)
        block = blocks.make(tier, name, path, text)
        if block.version and not block.codec:  # the bytes of another encoding stay as they are
            text = yaml_edit.set_keys(text, current + 1, clock.now(), origin.actor)
        if now is not None and _content(now) == _content(text):
            return Restored(())
        change = Change(tier, name, path, now, text, "restore", current + 1, _said(wanted))
        entries = tuple(made.commit([change], origin))
    return Restored(entries, instruction_sections.finish_edit(place, [change], origin))


def _said(wanted: str) -> str:
    return f"version {wanted}" if wanted.isdigit() and len(wanted) < 7 else f"commit {wanted}"


def _undoable(entries: list[JournalEntry]) -> JournalEntry | None:
    """Return the last edit that no undo has taken back: undos pair with what is before them.

    What `memfs init` made is not undone, nor that a file was there before the journal knew it:
    that is what `delete` is for.
    """
    skip = 0
    for entry in reversed(entries):
        if entry.op == UNDO:
            skip += 1
        elif skip:
            skip -= 1
        else:
            made = entry.op == "create" and entry.actor == "system"
            there = entry is entries[0] and entry.op == writer.ADOPT and entry.actor != "agent"
            return None if made or (there and entry.before is None) else entry
    return None


def _together(place: Place, made: writer.Writer, target: JournalEntry) -> list[JournalEntry]:
    """Return what is undone together: both sides of a rename, else the one entry."""
    if target.op != "rename":
        return [target]
    mates = [
        entry
        for entry in journal.read(place.store(target.tier))
        if entry.group == target.group
        and entry.op == "rename"
        and entry.id != target.id
        and target.reason.startswith(f"{'to' if target.after is None else 'from'} {entry.label}")
    ]
    for mate in mates:
        head = made.get_head(mate.tier, mate.label)
        if head is None or head.id != mate.id:
            raise RejectedError(
                f"cannot undo the rename of '{mate.label}' to '{target.label}': there is a newer "
                f"'{mate.label}'",
                f"rename it back under another label: memfs rename {target.label} LABEL",
            )
    return [target, *mates]


def _refuse_unkept(origin: Origin) -> None:
    unkept = edits.secret("keep", "the reason", origin.reason)
    if unkept:
        raise RejectedError(unkept.message, unkept.hint)


def _refuse_read_only(verb: str, label: str, text: str | None) -> None:
    if text is not None and blocks.make("", label, "", text).read_only:
        raise RejectedError(
            f"cannot {verb} '{label}': it is read-only",
            "a person can change that in its file (read_only: false)",
        )


def _content(text: str) -> tuple[dict[str, object], str]:
    return blocks.make("", "", "", text).content


def _path(place: Place, tier: str, label: str) -> str:
    found = blocks.resolve_label(place, labels.qualified(tier, label))
    return found[2] if found else blocks.path_of(place, tier, label)
