"""A journal as it lies on the disk, read without memfs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """One edit; `offset` is where its line begins."""

    id: str
    key: str
    op: str
    version: int
    reason: str
    before: str | None
    after: str | None
    offset: int


class Journal:
    """The journal and the heads of a store."""

    def __init__(self, local: Path) -> None:
        self.entries: list[Entry] = []
        self._data = (local / "journal.jsonl").read_bytes()
        self._heads = json.loads((local / "heads.json").read_text())
        self._groups: dict[str, list[int]] = {}
        self._odd: list[str] = []
        offset = 0
        for line in self._data.splitlines(keepends=True):
            self._take(line, offset)
            offset += len(line)

    def wrong(self) -> Iterator[str]:
        """Yield what is wrong with the journal by itself, and with its heads."""
        yield from self._odd
        for patch, sizes in self._groups.items():
            if sizes != [len(sizes)] * len(sizes):
                yield f"patch {patch} has {len(sizes)} entries here, which say {sizes}"
        for entry_id in {entry.id for entry in self.entries}:
            if sum(entry.id == entry_id for entry in self.entries) > 1:
                yield f"two entries are {entry_id}"
        if self._heads["offset"] != len(self._data):
            yield f"heads end at {self._heads['offset']}, the journal at {len(self._data)}"
        last = {e.key: [e.id, e.version, _digest(e.after), e.offset] for e in self.entries}
        for key in last.keys() | self._heads["heads"].keys():
            if self._heads["heads"].get(key) != last.get(key):
                yield f"the head of {key} is not its last edit"

    def _take(self, line: bytes, offset: int) -> None:
        try:
            found = json.loads(line)
            assert line.endswith(b"\n")
        except (ValueError, AssertionError):
            self._odd.append(f"no whole entry at byte {offset}: {line[:80]!r}")
            return
        key = f"{found.get('tree', '')}|{found['tier']}:{found['label']}"
        self.entries.append(
            Entry(
                found["id"],
                key,
                found["op"],
                found["version"],
                found["reason"],
                found["before"],
                found["after"],
                offset,
            )
        )
        if found.get("group"):
            patch, size = found["group"]
            self._groups.setdefault(patch, []).append(size)


def _digest(text: str | None) -> str:
    return (
        "" if text is None else hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    )
