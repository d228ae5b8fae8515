"""Importing what a tool keeps, as `memfs import` does, and looking at all files before and after."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from memfs.core.records import Origin
from memfs.importers import importing, readers, undo
from memfs.importers.importing import Imported
from memfs.importers.undo import Unimported
from memfs.store.blocks import Place

BY = Origin("user", reason="from a tool")
_DERIVED = ("local/clean", "local/index", "local/journal", "local/heads")


def import_path(
    place: Place, path: Path, *, user: bool = False, project: str = "", dry_run: bool = False
) -> Imported:
    """Import what is at a path, which a tool must recognise."""
    tool = readers.recognise(str(path))
    assert tool, f"no tool knows {path.name}"
    sources = [(tool, str(path))]
    return importing.import_tool(place, sources, BY, user=user, project=project, dry_run=dry_run)


def undo_import(place: Place, done: Imported) -> Unimported:
    return undo.run(place, done.id, BY)


def count_outcomes(done: Imported) -> Counter[str]:
    return Counter(item.outcome for item in done.items)


def list_details(done: Imported, outcome: str) -> list[str]:
    return [item.detail for item in done.items if item.outcome == outcome]


def read_stores(place: Place) -> dict[str, bytes]:
    """Return every file of the stores of a place, without what is derived, the journal and locks."""
    found = {}
    for store in place.stores():
        for path in sorted(Path(store.root).rglob("*")):
            name = path.relative_to(store.root).as_posix()
            derived = name.endswith("lock") or any(each in name for each in _DERIVED)
            if path.is_file() and not derived:
                found[f"{store.tier}/{name}"] = path.read_bytes()
    return found


def read_memory(place: Place) -> str:
    """Return all that the stores of a place remember, as one text."""
    return "\n".join(data.decode("utf-8", "replace") for data in read_stores(place).values())
