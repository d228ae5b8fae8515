"""Queries of the journals: entries, versions, newest states, and the labels a block had."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from memfs import files
from memfs.core import label as labels
from memfs.core.block import Block
from memfs.core.errors import NotFoundError, StoreError
from memfs.core.records import JournalEntry, block_key
from memfs.store import blocks, journal
from memfs.store.blocks import Place
from memfs.store.journal import JournalHead
from memfs.store.store_paths import Store

RENAME, UNDO = "rename", "undo"
_FROM, _UNDONE = "from ", "undo of version "


def list_entries(place: Place) -> list[JournalEntry]:
    """Return all entries of all tiers, after adopting what was edited outside memfs."""
    adopt(place)
    return [entry for store in place.stores() for entry in journal.read(store)]


def list_block_entries(place: Place, tier: str, name: str) -> list[JournalEntry]:
    """Return the entries of one block, under all labels that it had, oldest first."""
    return [entry for span in trace(place, tier, name) for entry in span.entries]


def trace(place: Place, tier: str, name: str) -> list[LabelSpan]:
    """Return the entries of one block for each label that it had, oldest first."""
    return split_spans(_list_tier_entries(place, tier), name)


def entries(place: Place, tier: str, name: str) -> list[JournalEntry]:
    """Return the entries of one label of one tier, whichever block had it, oldest first."""
    return [entry for entry in _list_tier_entries(place, tier) if entry.label == name]


def _list_tier_entries(place: Place, tier: str) -> list[JournalEntry]:
    store = place.store(tier)
    return [
        entry
        for entry in journal.read(store)
        if entry.tier == tier
        and entry.tree == store.tree
        and (tier != labels.SESSION or entry.session == place.session)
    ]


def resolve(place: Place, label: str) -> tuple[str, str]:
    """Resolve a label; a block that was deleted is found in the journal."""
    found = blocks.resolve_label(place, label)
    if found:
        return found[0], found[1]
    tier, name = labels.parse(label)
    for candidate, _ in place.list_tiers():
        if tier in (None, candidate) and entries(place, candidate, name):
            return candidate, name
    raise blocks.missing(place, label)


def version(place: Place, label: str, number: int) -> str:
    """Return the file text of one version of a block."""
    adopt(place)
    found = list_block_entries(place, *resolve(place, label))
    for entry in reversed(found):
        if entry.version == number:
            if entry.after is None:
                raise NotFoundError(f"'{label}' was deleted in version {number}")
            return entry.after
    for entry in found:
        if entry.version == number + 1 and entry.before is not None:
            return entry.before
    known = sorted({entry.version for entry in found})
    if not known:
        raise NotFoundError(f"'{label}' has no versions: the block was never edited with memfs")
    hint = f"choose a known version: {_format_ranges(known)}"
    raise NotFoundError(f"'{label}' has no version {number}", hint)


def get_head(place: Place, tier: str, label: str) -> JournalHead | None:
    """Return the newest journalled state of a block, None if it was never journalled."""
    store = place.store(tier)
    return _load_heads(store).by_key.get(block_key(store.tree, tier, place.session, label))


def get_version(place: Place, block: Block) -> int:
    """Return the journalled version of a block; of a file changed since then, the one after it.

    A block that the journal does not have yet is at 1, or at what an earlier memfs wrote into it.
    """
    head = get_head(place, block.tier, block.label)
    if head is None:
        return block.version or 1
    return head.version + (journal.digest(block.raw) != head.digest)


def adopt(place: Place) -> None:
    """Journal the edits made outside memfs in every block that the journal has."""
    from memfs.store import writer  # with locks and the detector, which a query needs not

    place = blocks.without_quarantine(place)
    listed = blocks.paths(place)
    for store in place.stores():
        if not files.is_file(store.journal):
            continue
        mine = [item for item in listed if place.store(item[0]).root == store.root]
        try:
            with writer.writing(store, place) as store_writer:
                for tier, label, path in {item[:2]: item for item in reversed(mine)}.values():
                    with suppress(StoreError, PermissionError):  # named by `memfs doctor`
                        store_writer.adopt_current(tier, label, path)
        except OSError:  # a folder that may only be read: what is journalled can be shown
            continue


def _load_heads(store: Store) -> journal.JournalHeads:
    """Load the heads; rebuild them from the journal if they are missing or outdated."""
    known = journal.load_heads(store)
    if known is not None and known.offset == journal.get_size(store):
        return known
    entries, end = journal.read_since(store, 0)
    return journal.advance(journal.JournalHeads(0, {}), entries, end)


def _format_ranges(numbers: list[int]) -> str:
    out: list[list[int]] = []
    for number in numbers:
        if out and number == out[-1][1] + 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in out)


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


def split_spans(entries: Sequence[JournalEntry], label: str) -> list[LabelSpan]:
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
    """Tell whether the last of these entries brings back the block that left the label."""
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
