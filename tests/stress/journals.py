"""A journal as it lies on the disk, read without memfs."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """One edit; `offset` is where its line begins, `group` its patch and how many edits that has."""

    id: str
    key: str
    op: str
    version: int
    reason: str
    before: str | None
    after: str | None
    group: list[object] | None
    offset: int


class Journal:
    """The journal and the heads of a store."""

    def __init__(self, local: Path) -> None:
        self.entries: list[Entry] = []
        self._odd: list[str] = []
        self._heads = json.loads((local / "heads.json").read_text())
        self._size = 0
        for line in (local / "journal.jsonl").read_bytes().splitlines(keepends=True):
            try:
                found = json.loads(line)
                assert line.endswith(b"\n")
            except (ValueError, AssertionError):
                self._odd.append(f"no whole entry at byte {self._size}: {line[:80]!r}")
            else:
                found["key"] = f"{found.get('tree', '')}|{found['tier']}:{found['label']}"
                values = [found.get(name) for name in Entry._fields[:-1]]
                self.entries.append(Entry._make([*values, self._size]))
            self._size += len(line)

    def wrong(self) -> Iterator[str]:
        """Yield what is wrong with the journal by itself, and with its heads."""
        yield from self._odd
        groups = Counter((str(each.group[0]), each.group[1]) for each in self.entries if each.group)
        for (patch, size), count in groups.items():
            if count != size:
                yield f"patch {patch} has {count} entries here, which say {size}"
        for ident, count in Counter(each.id for each in self.entries).items():
            if count > 1:
                yield f"two entries are {ident}"
        if self._heads["offset"] != self._size:
            yield f"heads end at {self._heads['offset']}, the journal at {self._size}"
        last = {e.key: [e.id, e.version, _digest(e.after), e.offset] for e in self.entries}
        for key in last.keys() | self._heads["heads"].keys():
            if self._heads["heads"].get(key) != last.get(key):
                yield f"the head of {key} is not its last edit"


def _digest(text: str | None) -> str:
    data = (text or "").encode("utf-8", "surrogateescape")
    return "" if text is None else hashlib.sha256(data).hexdigest()
