"""The lineage of a block: the labels it had, traced back from rename to rename in the journal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from memfs.core.records import JournalEntry
from memfs.store import journal

RENAME, UNDO = "rename", "undo"
_FROM, _UNDONE = "from ", "undo of version "


class LabelSpan(NamedTuple):
    """The entries of a block while it had one label, oldest first.

    A rename counts once, under the new label, with the text that the block had before it. `since`
    and `until` are the times (UTC, ISO 8601) between which the block had the label, "" where that
    is open.
    """

    label: str
    entries: list[JournalEntry]
    since: str
    until: str

    def covers(self, at: str) -> bool:
        """Tell whether the block had the label at a time."""
        return self.since <= at and (not self.until or at <= self.until)


def trace(entries: Sequence[JournalEntry], label: str) -> list[LabelSpan]:
    """Return the spans of the block that has `label` now, or had it last, oldest first.

    `entries` are those of all blocks of one tier, oldest first. Blocks that had the label before
    this one, or had an earlier label of it afterwards, are not in them.
    """
    spans: list[LabelSpan] = []
    end, until = len(entries), ""
    while True:
        own = [number for number in range(end) if entries[number].label == label]
        first = _find_start(entries, own)
        found = [entries[number] for number in own[first:]]
        source = _find_source(entries, own[first]) if found else None
        if source is None:
            since = found[0].at if first else ""
            return [LabelSpan(label, found, since, until), *reversed(spans)]
        before = entries[source]
        found[0] = replace(found[0], before=before.before)
        spans.append(LabelSpan(label, found, found[0].at, until))
        end, until, label = min(source, own[first]), before.at, before.label


def parse_former_label(entry: JournalEntry) -> str:
    """Return the label that a block had before the rename that this entry is, else ""."""
    if entry.op != RENAME or entry.after is None or not entry.reason.startswith(_FROM):
        return ""
    return entry.reason.removeprefix(_FROM).partition(":")[0]


def _find_start(entries: Sequence[JournalEntry], own: Sequence[int]) -> int:
    """Return which of the entries of one label is the first of its last block."""
    for place in range(len(own) - 1, -1, -1):
        if _find_former_label(entries, own[place]):
            return place
        if place and _leaves(entries[own[place - 1]]) and not _returns(entries, own[: place + 1]):
            return place
    return 0


def _leaves(entry: JournalEntry) -> bool:
    """Tell whether a block leaves its label: with a rename, or when one is undone."""
    if entry.after is not None:
        return False
    return entry.op == RENAME or (entry.op == UNDO and entry.group is not None)


def _returns(entries: Sequence[JournalEntry], own: Sequence[int]) -> bool:
    """Tell whether the last of these entries brings back the block that left the label.

    A restore does, and git where it checks out a commit from before the rename.
    """
    last = entries[own[-1]]
    known = {entries[number].after for number in own[:-1]}
    adopted = last.op == "adopt" and (journal.is_commit(last) or last.after in known)
    return adopted or last.op == "restore"


def _find_former_label(entries: Sequence[JournalEntry], number: int) -> str:
    """Return the label from which an entry brought a block: by a rename, or as one was undone."""
    entry = entries[number]
    if entry.op != UNDO or entry.group is None or entry.after is None:
        return parse_former_label(entry)
    version = entry.reason.removeprefix(_UNDONE).partition(":")[0]
    for undone in reversed(entries[:number]):
        if undone.label == entry.label and str(undone.version) == version:
            mates = (e for e in entries if undone.group and e.group == undone.group)
            return next((e.label for e in mates if parse_former_label(e) == entry.label), "")
    return ""


def _find_source(entries: Sequence[JournalEntry], number: int) -> int | None:
    """Return the entry of the same edit under the label that the block had before."""
    former, group = _find_former_label(entries, number), entries[number].group
    if not former or group is None:
        return None
    mates = (n for n, e in enumerate(entries) if e.group == group and e.label == former)
    return next(mates, None)
