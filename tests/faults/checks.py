"""What must hold of blocks and journal after any fault."""

import os
from pathlib import Path

from memfs.core import label as labels
from memfs.core.body_edits import Append
from memfs.core.records import JournalEntry
from memfs.ops import undo
from memfs.store import journal, journal_query, writer
from memfs.store.store_paths import Store
from tests.faults.harness import ERRORS, FAILED, FULL
from tests.faults.world import ORIGIN, SESSION, Seen, World

Texts = dict[str, str | None]


def check_blocks(world: World, seen: Seen[Texts]) -> None:
    """Check everything about the blocks of a world in which an edit was interrupted."""
    found = world.texts()
    for key, text in found.items():
        assert text in (seen.old.get(key), seen.new.get(key)), f"{key} is half written"
    if seen.fault.kind in ERRORS:
        assert not world.temporaries()
    check_opened(world, seen)


def check_opened(world: World, seen: Seen[Texts]) -> None:
    """Check what the next opening makes of it, and that everything works on."""
    for store in _stores(world):
        _kept(world, store)
    open_anew(world)
    now = world.texts()
    if seen.result.status == FAILED and seen.fault.kind != FULL:
        assert now == seen.old, "an edit that failed is there all the same"
    assert now in (seen.old, seen.new)
    for store in _stores(world):
        check_journal(world, store)
    if seen.fault.at % 2:  # it takes most of the time, and no two faults differ for it
        changed = {key for key, text in seen.new.items() if seen.old.get(key) != text}
        go_on(world, now, changed)
    assert not world.temporaries()


def open_anew(world: World) -> None:
    """Open the stores as the next edit does, and adopt what is not journalled."""
    place = world.place()
    for store in _stores(world):
        with writer.writing(store, place):
            pass
    journal_query.list_entries(
        place
    )  # as the log, without asking git for commits, of which there are none


def check_journal(world: World, store: Store) -> None:
    """The journal is whole, its versions have no gaps, and it agrees with files and heads."""
    size = os.path.getsize(store.journal) if os.path.exists(store.journal) else 0
    found, end = journal.read_since(store, 0)
    assert (journal.find_damaged(store), end) == ([], size)
    last: dict[str, JournalEntry] = {}
    for _, entry in found:
        before = last.get(entry.key)
        if before:
            assert (entry.version, entry.before) == (before.version + 1, before.after), entry
        last[entry.key] = entry
    texts = world.texts()
    for entry in last.values():
        if entry.tree != store.tree or (entry.tier == labels.SESSION and entry.session != SESSION):
            continue
        text = texts.get(labels.qualify(entry.tier, entry.label))
        assert entry.after == text, f"{entry.label} is not as its journal says"
    heads = journal.load_heads(store)
    if heads is not None or last:
        assert heads
        assert heads.offset == size
        assert {key: head.digest for key, head in heads.by_key.items()} == {
            key: journal.digest(entry.after) for key, entry in last.items()
        }


def go_on(world: World, now: Texts, changed: set[str]) -> None:
    """Another edit works in both stores, of a block that was changed; and so does its undo."""
    for key in {min(changed & now.keys(), default="project:persona"), "user:human"} & now.keys():
        world.edit(Append(key, "after the fault"))
        assert (world.texts()[key] or "").rstrip().endswith("after the fault")
        undo.undo_edit(world.place(), key, ORIGIN)
        assert world.texts() == now
    for store in _stores(world):
        check_journal(world, store)


def _kept(world: World, store: Store) -> None:
    """Check that the journal begins with all whole lines that it held before the fault."""
    path = Path(store.journal.replace(str(world.root), str(world.saved), 1))
    before = path.read_bytes() if path.exists() else b""
    whole = before[: before.rfind(b"\n") + 1]
    assert not whole or Path(store.journal).read_bytes().startswith(whole)


def _stores(world: World) -> list[Store]:
    place = world.place()
    return [store for tier, store in place.list_tiers() if tier != labels.SESSION]
