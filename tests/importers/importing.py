"""Importing what a tool keeps, as `memfs import` does, and looking at all files before and after."""

import json
import os
from collections import Counter
from pathlib import Path

from memfs.core.records import Message, Origin
from memfs.importers import importing, readers, undo
from memfs.importers.importing import Imported
from memfs.importers.undo import Unimported
from memfs.ops import archive
from memfs.store import blocks, recall
from memfs.store.blocks import Place

BY = Origin("user", reason="from a tool")
RECORD = bool(os.environ.get("MEMFS_TEST_RECORD"))
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


def read_session(place: Place, name: str = "") -> list[Message]:
    """Return the messages of the sessions in all stores whose file is named so."""
    paths = [path for store in place.stores() for path in recall.sources(store)]
    found = [path for path in paths if not name or Path(path).name == f"{name}.jsonl"]
    return [message for path in found for message in recall.messages(path)]


def read_passages(place: Place, *names: str) -> dict[str, tuple[object, ...]]:
    """Return these fields of all passages by their sources; one of them may be their tier."""
    return {
        each.passage.source: tuple(
            each.tier if name == "tier" else getattr(each.passage, name) for name in names
        )
        for each in archive.list_passages(place)
    }


def check_recording(name: str, done: Imported, place: Place, folder: Path) -> None:
    """Compare all that an import came to with what is recorded under a name.

    `MEMFS_TEST_RECORD=1 python -m pytest tests/importers -k recorded -n 0` writes it anew.
    """
    edited = {(entry.tier, entry.label) for entry in done.entries}
    found: list[object] = [list(each.items()) for each in (done.taken, done.left, done.omitted)]
    found += [[b.tier, b.label, b.raw] for b in blocks.load(place) if (b.tier, b.label) in edited]
    fields = ("source", "tier", "created_at", "importance", "tags", "text")
    found += [
        [each.tier if key == "tier" else getattr(each.passage, key) for key in fields]
        for each in archive.list_passages(place)
    ]
    found += [{k: v for k, v in each._asdict().items() if v} for each in read_session(place)]
    found.append([name for name in read_stores(place) if "/recall/" in name])
    found.append(list_details(done, "refused"))
    lines = (json.dumps(each, ensure_ascii=False) + "\n" for each in found)
    text = "".join(lines).replace(str(folder), "TMP")
    path = Path(__file__).parent / f"recorded/{name}.jsonl"
    if RECORD:
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")
