"""Undo the last edit of a block, or make an earlier version of it current again."""

from dataclasses import dataclass

from memfs.core import body_edits, yaml_edit
from memfs.core import label as labels
from memfs.core.errors import NotFoundError, RejectedError, Remedy
from memfs.core.records import JournalEntry, Origin
from memfs.store import block_history, blocks, journal, journal_query, writer
from memfs.store.blocks import Place
from memfs.store.journal_query import RENAME, UNDO, parse_former_label
from memfs.store.writer import Change
from memfs.sync import instruction_sections


@dataclass(frozen=True)
class Undone:
    """The entry that was undone, the new entries, and why they were not committed or synced."""

    undone: JournalEntry
    entries: tuple[JournalEntry, ...]
    note: str


@dataclass(frozen=True)
class Restored:
    """The new entries of a restore, and why they were not committed or synced (or "")."""

    entries: tuple[JournalEntry, ...]
    note: str = ""


def undo_edit(place: Place, label: str, origin: Origin) -> Undone:
    """Undo the last edit that was not undone yet: the file gets its earlier bytes back."""
    _refuse_secret(origin)
    tier, name = journal_query.resolve(place, label)
    with writer.writing(place.store(tier), place) as store_writer:
        now, _ = store_writer.adopt_current(tier, name, _find_path(place, tier, name))
        _refuse_read_only("undo", name, now)
        target = _find_undoable(journal_query.entries(place, tier, name))
        if target is None:
            raise NotFoundError(
                f"there is nothing to undo in '{label}'", Remedy("see {log}", label)
            )
        group = _find_group(place, store_writer, target)
        paths = [_find_path(place, entry.tier, entry.label) for entry in group]
        current = [
            store_writer.adopt_current(entry.tier, entry.label, path)
            for entry, path in zip(group, paths, strict=True)
        ]
        number = max(number for _, number in current)  # of a rename, both sides count on
        changes = []
        for entry, path, (text, _) in zip(group, paths, current, strict=True):
            block, why = (entry.tier, entry.label, path), f"undo of version {entry.version}"
            changes.append(Change(*block, text, entry.before, UNDO, number + 1, why))
        entries = tuple(store_writer.commit(changes, origin))
    return Undone(target, entries, instruction_sections.finish_edit(place, changes, origin))


def restore_version(place: Place, label: str, state: str, origin: Origin) -> Restored:
    """Make an earlier version, or a commit's, current again; no entry if it is current already."""
    _refuse_secret(origin)
    state = block_history.resolve_version(place, label, state)
    text = block_history.read_version(place, label, state)
    tier, name = journal_query.resolve(place, label)
    with writer.writing(place.store(tier), place) as store_writer:
        path = _find_path(place, tier, name)
        now, current = store_writer.adopt_current(tier, name, path)
        _refuse_read_only("restore", name, now)
        if not blocks.make(tier, name, path, text).codec:  # its bytes stay unchanged
            text = yaml_edit.drop_outdated(text)
        wanted = blocks.make(tier, name, path, text).content
        if now is not None and blocks.make(tier, name, path, now).content == wanted:
            return Restored(())
        kind = "version" if state.isdecimal() and len(state) < 7 else "commit"
        why = f"{kind} {state}"
        change = Change(tier, name, path, now, text, "restore", current + 1, why)
        entries = tuple(store_writer.commit([change], origin))
    return Restored(entries, instruction_sections.finish_edit(place, [change], origin))


def _find_undoable(entries: list[JournalEntry]) -> JournalEntry | None:
    """Return the last edit that was not undone: each undo pairs with an edit before it.

    The creation of a block by `memfs init`, or its adoption, is not undone: `delete` does that.
    """
    skip = 0
    for entry in reversed(entries):
        if entry.op == UNDO:
            skip += 1
        elif skip:
            skip -= 1
        else:
            by_init = entry.op == "create" and entry.actor == "system"
            adopted = entry is entries[0] and entry.op == journal.ADOPT and entry.actor != "agent"
            return None if by_init or (adopted and entry.before is None) else entry
    return None


def _find_group(
    place: Place, store_writer: writer.Writer, target: JournalEntry
) -> list[JournalEntry]:
    """Return the entries to undo together: both sides of a rename, else the one entry."""
    if target.op != RENAME:
        return [target]
    former = parse_former_label(target)
    mates = [
        entry
        for entry in journal.read(place.store(target.tier))
        if entry.group == target.group
        and entry.op == RENAME
        and entry.id != target.id
        and (entry.label == former or parse_former_label(entry) == target.label)
    ]
    for mate in mates:
        head = store_writer.get_head(mate.tier, mate.label)
        if head is None or head.id != mate.id:
            raise RejectedError(
                f"cannot undo the rename of '{mate.label}' to '{target.label}': a newer block is "
                f"named '{mate.label}'",
                Remedy("give the block another label{rename}", target.label),
            )
    return [target, *mates]


def _refuse_secret(origin: Origin) -> None:
    secret = body_edits.check_secret("keep", "the reason", origin.reason)
    if secret:
        raise RejectedError(secret.message, secret.hint)


def _refuse_read_only(verb: str, label: str, text: str | None) -> None:
    if text is not None and blocks.make("", label, "", text).read_only:
        raise RejectedError(
            f"cannot {verb} '{label}': the block is read-only",
            "set 'read_only: false' in its file (only a person may do so)",
        )


def _find_path(place: Place, tier: str, label: str) -> str:
    found = blocks.resolve_label(place, labels.qualify(tier, label))
    return found[2] if found else blocks.path_of(place, tier, label)
