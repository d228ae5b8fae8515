"""Windows of conversations and what a kind of memory evicted, as JSON lines in `local/windows/`.

Lines are only added, in segments named by the id of their first line; evicted ones stay.
"""

import bisect
import json
import os
import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from memfs import files
from memfs.core.records import Passage
from memfs.files import atomic, signatures, trees
from memfs.files.logs import JsonLog, have_type
from memfs.files.signatures import Signature
from memfs.store import clock, store_paths
from memfs.store.store_paths import Store

FOLDER = "windows"
SUFFIX = ".jsonl"
_STATE = "first.state.json"  # from which id on they are live
_LARGEST = 8 << 20  # bytes of a segment
_LEVELS = 2  # of folders: one for each kind
_ID = re.compile(r"[0-9a-f]{20}")  # see `clock.unique`
_EVICTIONS = 1000  # before they are saved; after a kill the bounds evict them again


class ChunkWindow(NamedTuple):
    """A passage, and what else is known of it: `meta` is plain JSON.

    `revision` counts the changes of its segment, in the first line of that.
    """

    passage: Passage
    meta: dict[str, object]
    revision: int = 0


class ChunkMark(NamedTuple):
    """What bounds go by: bytes of text, and when it was added (seconds since 1970)."""

    size: int
    at: float


def folder(store: Store) -> str:
    """Return where the windows of a store are."""
    return f"{store.local}/{FOLDER}"


def list_segments(store: Store) -> list[str]:
    """List all segments of a store, the oldest of each kind first."""
    listed = trees.walk(folder(store), levels=_LEVELS)
    return sorted(found.path for found in listed if found.name.endswith(SUFFIX))


def get_owner(path: str) -> str:
    """Return the name of a segment's kind: it differs from other kinds and from passages."""
    return f"{FOLDER}/{os.path.basename(os.path.dirname(path))}"


def read(path: str, start: int = 0) -> Iterator[ChunkWindow]:
    """Read a segment from byte `start` on; damaged lines are left out."""
    return (found for found, _ in _LOG.read(path, start) if found)


class ChunkLog:
    """The windows of one kind. Who changes them holds the lock of kinds."""

    def __init__(self, store: Store, name: str) -> None:
        self.name = store_paths.file_name(name)
        self.whose = f"{FOLDER}/{self.name}"
        self._folder = f"{folder(store)}/{self.name}"
        self._segment = ""  # the last one
        self._signatures: tuple[Signature | None, Signature | None] = (None, None)
        self._end = 0  # of the last whole line that was read in it
        self._last = ""  # the id of its last line
        self._live: OrderedDict[str, ChunkMark] | None = None
        self._evicted = 0  # since the state was saved
        self.bytes = 0  # of the live windows

    def get_live(self) -> Mapping[str, ChunkMark]:
        """Return the marks of the windows that are not evicted, by id, the oldest first."""
        self._catch_up()
        return self._load_live()

    def add(self, passages: Sequence[Passage], metas: Sequence[Mapping[str, object]]) -> list[str]:
        """Add passages, with ids of their own, durably; return the ids."""
        if not passages:
            return []
        self._catch_up()
        windows, marks = [], {}
        for passage, meta in zip(passages, metas, strict=True):
            self._last = _make_next_id(self._last)
            windows.append(ChunkWindow(replace(passage, id=self._last), dict(meta)))
            marks[self._last] = _make_mark(windows[-1])
        first = next(iter(marks))
        if not self._segment or self._end > _LARGEST:
            self._segment = f"{self._folder}/{first}{SUFFIX}"
        files.make_folder(self._folder, private=True)
        _LOG.append(self._segment, windows)
        self._signatures = self._sign_files()
        self._end = files.get_size(self._segment)
        if self._live is not None:
            self._live.update(marks)
            self.bytes += sum(mark.size for mark in marks.values())
        return list(marks)

    def evict_oldest(self, count: int) -> None:
        """Evict the `count` oldest windows."""
        live = self._load_live()
        for _ in range(count):
            self.bytes -= live.popitem(last=False)[1].size
        self._evicted += count
        if self._evicted >= _EVICTIONS:
            self.note()

    def note(self) -> None:
        """Save up to where windows are evicted: the next process begins there."""
        if self._evicted and self._live is not None:
            first = next(iter(self._live), _make_next_id(self._last))
            text = json.dumps({"first": first})
            atomic.write(f"{self._folder}/{_STATE}", text, private=True, durable=False)
            self._evicted, self._signatures = 0, self._sign_files()

    def find(self, ident: str) -> ChunkWindow | None:
        """Return a window, evicted or not; None if there is none."""
        path = self._find_segment(ident)
        return next((w for w in read(path) if w.passage.id == ident), None) if path else None

    def read(self) -> Iterator[ChunkWindow]:
        """Yield all windows, evicted ones included, the oldest first."""
        for path in self._segments():
            yield from read(path)

    def read_live(self) -> Iterator[ChunkWindow]:
        """Yield the windows that are not evicted, the oldest first."""
        live = self.get_live()
        for path in self._segments():
            if live and path >= (self._find_segment(next(iter(live))) or ""):
                yield from (window for window in read(path) if window.passage.id in live)

    def update(self, ident: str, window: ChunkWindow | None) -> bool:
        """Replace a window (None: remove it); tell if it was there."""
        path = self._find_segment(ident)
        if path is None or self.find(ident) is None:
            return False
        revised = False

        def change(each: ChunkWindow) -> ChunkWindow | None:
            nonlocal revised
            if each.passage.id == ident:
                if window is None:
                    return None
                passage = replace(window.passage, id=ident, created_at=each.passage.created_at)
                each = ChunkWindow(passage, window.meta, each.revision)
            if not revised:  # the index sees by its first bytes that a segment was rewritten
                revised, each = True, each._replace(revision=each.revision + 1)
            return each

        _LOG.rewrite(path, change)
        self._segment = ""
        self._catch_up()
        return True

    def _segments(self) -> list[str]:
        listed = files.names(self._folder)
        return [f"{self._folder}/{name}" for name in listed if name.endswith(SUFFIX)]

    def _find_segment(self, ident: str) -> str | None:
        """Return the path of the segment that an id belongs to, None if it is older than all."""
        segments = self._segments()
        place = bisect.bisect_right(segments, f"{self._folder}/{ident}{SUFFIX}")
        return segments[place - 1] if place else None

    def _catch_up(self) -> None:
        before, now = self._signatures, self._sign_files()
        if self._segment and now == before:
            return
        segments = self._segments()
        last = segments[-1] if segments else ""
        if last == self._segment and _has_grown(before[0], now[0]) and now[1] == before[1]:
            self._load(last, self._end, "")
        else:
            self._segment, self._live, self.bytes, self._last = last, None, 0, ""
            if last:
                self._load(last, 0, "")
        self._signatures = self._sign_files()

    def _sign_files(self) -> tuple[Signature | None, Signature | None]:
        segment = signatures.sign_file(self._segment) if self._segment else None
        return segment, signatures.sign_file(f"{self._folder}/{_STATE}")

    def _load_live(self) -> OrderedDict[str, ChunkMark]:
        if self._live is None:
            self._live, self.bytes = OrderedDict(), 0
            first = self.first()
            begin = self._find_segment(first) or ""
            for path in self._segments():
                if path >= begin:
                    self._load(path, 0, first)
        return self._live

    def _load(self, path: str, start: int, first: str) -> None:
        self._end = start
        for window, self._end in _LOG.read(path, start):
            if window is None:
                continue
            ident = self._last = window.passage.id
            if self._live is not None and ident >= first:
                self._live[ident] = _make_mark(window)
                self.bytes += self._live[ident].size

    def first(self) -> str:
        """Return the saved id of the first window that is not evicted."""
        return str(files.read_record(f"{self._folder}/{_STATE}").get("first", ""))


def _encode_window(window: ChunkWindow) -> bytes:
    passage, meta, revision = window
    record = {
        "revision": revision or "",
        "id": passage.id,
        "created_at": passage.created_at,
        "importance": passage.importance,
        "tags": passage.tags,
        "source": passage.source,
        "text": passage.text,
        "meta": meta,
    }
    fields = {key: value for key, value in record.items() if value not in ("", (), {})}
    return (json.dumps(fields) + "\n").encode()


def _decode_window(line: bytes) -> ChunkWindow | None:
    found = json.loads(line)
    meta, revision = found.pop("meta", {}), found.pop("revision", 0)
    tags = found.pop("tags", [])
    passage = Passage(**found, tags=tuple(tags))
    texts = (passage.id, passage.text, passage.created_at, passage.source, *tags)
    known = have_type(str, *texts) and have_type(int, passage.importance, revision)
    known = known and have_type(list, tags) and have_type(dict, meta)
    return ChunkWindow(passage, meta, revision) if known and _ID.fullmatch(passage.id) else None


_LOG = JsonLog(_encode_window, _decode_window)


def _has_grown(before: Signature | None, now: Signature | None) -> bool:
    return bool(before and now and now.inode == before.inode and now.size > before.size > 0)


def _make_next_id(last: str) -> str:
    fresh = clock.unique()
    return fresh if fresh > last else f"{int(last, 16) + 1:020x}"


def _make_mark(window: ChunkWindow) -> ChunkMark:
    """Return the mark of a window: `bytes` of its metadata count, else its text."""
    size = window.meta.get("bytes")
    text = len(window.passage.text.encode("utf-8", "replace"))
    made = int(window.passage.id[:12], 16) / 1000  # an id begins with its time
    return ChunkMark(size if isinstance(size, int) else text, made)
