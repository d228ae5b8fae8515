"""Queries of the journals: entries, versions and the newest states of blocks."""

from __future__ import annotations

from contextlib import suppress

from memfs import files
from memfs.core import label as labels
from memfs.core.errors import NotFoundError, StoreError
from memfs.core.records import JournalEntry, block_key
from memfs.store import block_lineage, blocks, journal, writer
from memfs.store.block_lineage import LabelSpan
from memfs.store.blocks import Place
from memfs.store.journal import JournalHead
from memfs.store.store_paths import Store


def list_entries(place: Place) -> list[JournalEntry]:
    """Return all entries of all tiers, after adopting what was edited outside memfs."""
    adopt(place)
    return [entry for store in place.stores() for entry in journal.read(store)]


def list_block_entries(place: Place, tier: str, name: str) -> list[JournalEntry]:
    """Return the entries of one block, under all labels that it had, oldest first."""
    return [entry for span in trace(place, tier, name) for entry in span.entries]


def trace(place: Place, tier: str, name: str) -> list[LabelSpan]:
    """Return the entries of one block for each label that it had, oldest first."""
    return block_lineage.trace(_list_tier_entries(place, tier), name)


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
                raise NotFoundError(f"version {number} of '{label}' is its deletion")
            return entry.after
    for entry in found:
        if entry.version == number + 1 and entry.before is not None:
            return entry.before
    known = sorted({entry.version for entry in found})
    hint = f"known versions: {_format_ranges(known)}" if known else "it was never edited with memfs"
    raise NotFoundError(f"'{label}' has no version {number}", hint)


def get_head(place: Place, tier: str, label: str) -> JournalHead | None:
    """Return the newest journalled state of a block, None if it was never journalled."""
    store = place.store(tier)
    return _load_heads(store).by_key.get(block_key(store.tree, tier, place.session, label))


def adopt(place: Place) -> None:
    """Journal the edits made outside memfs in every block that the journal has."""
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
    entries, _, end = journal.read_since(store, 0)
    return journal.advance(journal.JournalHeads(0, {}), entries, end)


def _format_ranges(numbers: list[int]) -> str:
    out: list[list[int]] = []
    for number in numbers:
        if out and number == out[-1][1] + 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in out)
