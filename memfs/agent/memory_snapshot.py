"""Snapshots of memory: lasting blocks, passages, the session's scratch blocks, and all edits."""

from __future__ import annotations

from dataclasses import dataclass

from memfs.core import label as labels
from memfs.core.records import JournalEntry
from memfs.store import archive, blocks, journal
from memfs.store.blocks import Place


@dataclass(frozen=True)
class MemorySnapshot:
    """The blocks that last, by label: `values` their texts, `about` their descriptions.

    `passages` are the archived texts with their tags, `scratch` is what ends with the session.
    `edits` are the texts that the model's edits left, with their reasons; `lasting` counts those of
    blocks that last, and the passages.
    """

    values: dict[str, str]
    about: dict[str, str]
    passages: tuple[str, ...]
    scratch: str
    edits: tuple[str, ...]
    lasting: int


def take_snapshot(place: Place) -> MemorySnapshot:
    """Read the memory of a place, file by file."""
    values: dict[str, str] = {}
    about: dict[str, str] = {}
    scratch = []
    for block in blocks.load(place):
        if block.tier == labels.SESSION:
            scratch.append(block.value)
            continue
        for texts, text in ((values, block.value), (about, block.description)):
            texts[block.label] = "\n".join(filter(None, (texts.get(block.label), text)))
    entries = [
        entry for store in place.stores() for entry in journal.read(store) if entry.actor == "agent"
    ]
    archived = [archive.read(path) for store in place.stores() for path in archive.sources(store)]
    passages = tuple("\n#".join((each.text, *each.tags)) for each in archived if each)
    return MemorySnapshot(
        values,
        about,
        passages,
        "\n".join(scratch),
        tuple(_render_edit(entry) for entry in entries),
        sum(entry.tier != labels.SESSION for entry in entries) + len(passages),
    )


def _render_edit(entry: JournalEntry) -> str:
    block = blocks.make(entry.tier, entry.label, "", entry.after or "")
    return f"{entry.label}\n{block.description}\n{block.value}\n{entry.reason}"
