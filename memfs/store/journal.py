"""The append-only record of every edit, and what it says is current."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import asdict, fields
from functools import partial
from typing import NamedTuple

from memfs import files
from memfs.core import label as labels
from memfs.core.errors import UNREADABLE
from memfs.core.records import JournalEntry
from memfs.files import atomic, logs
from memfs.files.logs import JsonLog, have_type
from memfs.store.store_paths import Store

ADOPT = "adopt"  # what was written outside memfs is journalled
_FIELDS = tuple(field.name for field in fields(JournalEntry))
_TEXTS = tuple("id at actor host session tier label op reason tree commit digest".split())
_LARGEST = 1 << 62  # of a version, and of a place in a file
_OPTIONAL = {"tree": "", "group": None, "tied": (), "commit": "", "digest": ""}


class JournalHead(NamedTuple):
    """The newest journalled state of one block; `digest` is "" where the block was deleted."""

    id: str
    version: int
    digest: str
    offset: int


class JournalHeads(NamedTuple):
    """The newest state of every block, and up to which byte the files agree with the journal."""

    offset: int
    by_key: dict[str, JournalHead]


def is_commit(entry: JournalEntry) -> bool:
    """Tell whether an entry adopted what came with a commit: its actor is the commit's author."""
    return entry.actor.endswith(">")


def digest(text: str | None) -> str:
    """Return the content hash of a file's text, "" for no file."""
    return "" if text is None else hashlib.sha256(files.encode(text)).hexdigest()


def append(store: Store, entries: list[JournalEntry]) -> list[int]:
    """Append entries in one durable write; return the byte offset of each line."""
    return _make_log(store.tiers).append(store.journal, entries)


def get_size(store: Store) -> int:
    """Return the size of the journal in bytes, 0 if there is none."""
    return files.get_size(store.journal)


def rewrite(store: Store, change: Callable[[str], str]) -> None:
    """Change the text of the journal, line by line the same entries. The caller holds the lock."""
    before = files.decode(logs.read_whole(store.journal) or b"")
    after = change(before)
    if after == before:
        return
    # The old heads would seem valid for a new file of the same length: they go first.
    if files.remove(_heads_path(store)):
        files.sync_folder(store.local)
    atomic.write(store.journal, after, private=True, locked=True)
    entries, end = read_since(store, 0)
    save_heads(store, advance(JournalHeads(0, {}), entries, end))


def contains_patch(path: str, group: str) -> bool:
    """Tell whether a journal file holds all its part of a patch."""
    lines = _make_log(labels.TIERS).read(path)
    found = [entry.group for entry, _ in lines if entry and entry.group]
    sizes = [size for patch, size in found if patch == group]
    return bool(sizes) and len(sizes) == sizes[0]


def read(store: Store) -> list[JournalEntry]:
    """Return all entries, oldest first. Lines that are no entry are left out (see `doctor`)."""
    return [entry for _, entry in read_since(store, 0)[0]]


def read_last(store: Store, size: int) -> tuple[list[JournalEntry], bool]:
    """Return the entries of the last `size` bytes (0: all), oldest first, and whether it is all."""
    start = max(0, get_size(store) - size) if size else 0
    return [entry for _, entry in read_since(store, start)[0]], not start


def entry_at(store: Store, offset: int) -> JournalEntry | None:
    """Return the entry whose line starts at `offset`."""
    return next(_make_log(store.tiers).read(store.journal, offset), (None, 0))[0]


def read_since(store: Store, offset: int) -> tuple[list[tuple[int, JournalEntry]], int]:
    """Return ([(offset, entry)], end of the last whole line) from `offset` on.

    The entries of a patch count only when all of them are there. A last line without a line end
    was never acknowledged: it is not counted and the end is before it.
    """
    found: list[tuple[int, JournalEntry]] = []
    for entry, end in _make_log(store.tiers).read(store.journal, offset):
        if entry is not None:
            found.append((offset, entry))
        offset = end
    return list(_filter_groups(found)), offset


def find_damaged(store: Store) -> list[int]:
    """Return the numbers (from 1) of the damaged lines."""
    return _make_log(store.tiers).find_damaged(store.journal)


def load_heads(store: Store) -> JournalHeads | None:
    """Read the heads as last written; None if they are missing or not of this journal."""
    text = files.decode(logs.read_whole(_heads_path(store)) or b"")
    try:
        found = json.loads(text)
        by_key = {key: JournalHead(*values) for key, values in found["heads"].items()}
        heads = JournalHeads(found["offset"], by_key)
    except UNREADABLE:
        return None
    return heads if all(map(_is_head, by_key.values())) and _is_count(heads.offset) else None


def save_heads(store: Store, heads: JournalHeads) -> None:
    """Write the heads. They can be made again from the journal: not fsynced, nor insisted on."""
    text = json.dumps({"offset": heads.offset, "heads": heads.by_key})
    with suppress(OSError):  # the edit is done: that heads are behind is noticed by their offset
        atomic.write(_heads_path(store), text, private=True, durable=False, locked=True)


def advance(heads: JournalHeads, entries: list[tuple[int, JournalEntry]], end: int) -> JournalHeads:
    """Return the heads after `entries`, with the agreement moved to `end`."""
    by_key = dict(heads.by_key)
    for offset, entry in entries:
        by_key[entry.key] = JournalHead(
            entry.id, entry.version, entry.digest or digest(entry.after), offset
        )
    return JournalHeads(end, by_key)


def _heads_path(store: Store) -> str:
    return f"{store.local}/heads.json"


def _encode_entry(entry: JournalEntry) -> bytes:
    values = asdict(entry)
    for name, default in _OPTIONAL.items():
        if values[name] == default:
            del values[name]
    return json.dumps(values).encode("ascii") + b"\n"


def _make_log(tiers: Collection[str]) -> JsonLog[JournalEntry]:
    return JsonLog(_encode_entry, partial(_decode_entry, tiers))


def _decode_entry(tiers: Collection[str], line: bytes) -> JournalEntry | None:
    """Return the entry of a line; None for what is no entry, or of a tier that is not there."""
    found = json.loads(line)
    values = {name: found[name] for name in _FIELDS if name in found}
    group, tied = values.pop("group", None), values.pop("tied", [])
    patch, size = ("", 0) if group is None else group
    known = have_type(list, tied) and have_type(str, patch, *tied) and have_type(int, size)
    entry = JournalEntry(**values, group=group and (patch, size), tied=tuple(tied))
    if b"\\u" in line or b"\xed" in line:  # surrogates, which no file can hold
        for text in (*(getattr(entry, name) for name in _TEXTS), entry.before, entry.after):
            files.encode(text or "")
    known = known and have_type(str, *(getattr(entry, name) for name in _TEXTS))
    known = known and all(isinstance(text, str | None) for text in (entry.before, entry.after))
    return entry if known and entry.tier in tiers and _is_count(entry.version) else None


def _is_head(head: JournalHead) -> bool:
    return have_type(str, head.id, head.digest) and all(map(_is_count, (head.version, head.offset)))


def _is_count(number: object) -> bool:
    return type(number) is int and 0 <= number < _LARGEST


def _filter_groups(found: list[tuple[int, JournalEntry]]) -> Iterator[tuple[int, JournalEntry]]:
    counts: dict[str, int] = {}
    for _, entry in found:
        if entry.group:
            counts[entry.group[0]] = counts.get(entry.group[0], 0) + 1
    for offset, entry in found:
        if entry.group is None or counts[entry.group[0]] == entry.group[1]:
            yield offset, entry
