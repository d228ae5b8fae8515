"""What is new in a memory since a person looked last: sessions, and edits by assistants."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from memfs import files
from memfs.core import label as labels
from memfs.core.records import JournalEntry
from memfs.files import atomic
from memfs.ops import sessions
from memfs.ops.sessions import RecordedSession, SessionCache
from memfs.store import clock, journal, journal_query, local_folder
from memfs.store.blocks import Place

_FILE = "visited"  # in the local folder: when the visit before began to be the last, and this one
_VISIT = 1800  # seconds without a look after which a visit has ended
_FIRST = 7 * 86400  # seconds that are new at the first visit
_MOST = 50  # sessions that are looked at


@dataclass(frozen=True)
class EditedBlock:
    """An edit of a block; `undoable`: it is the last one of its block, and no undo."""

    entry: JournalEntry
    undoable: bool


@dataclass(frozen=True)
class News:
    """What is new since `since` (UTC, ISO 8601), the newest first.

    `edits` are those by assistants, `last` is the last edit of any block by anyone.
    """

    since: str
    sessions: tuple[RecordedSession, ...]
    edits: tuple[EditedBlock, ...]
    last: EditedBlock | None


def run(place: Place, since: str, cache: SessionCache) -> News:
    """Return what is new since a time. Raises `MemfsError`."""
    recorded = sessions.list_sessions(place, _MOST, cache=cache)
    entries = [
        entry
        for entry in journal_query.list_entries(place)
        if entry.tier != labels.SESSION and entry.op != journal.ADOPT
    ]
    entries.sort(key=lambda entry: (entry.at, entry.id))
    latest = {entry.key: entry.id for entry in entries}
    edits = [
        EditedBlock(entry, latest[entry.key] == entry.id and entry.op != journal_query.UNDO)
        for entry in reversed(entries)
    ]
    return News(
        since,
        tuple(each for each in recorded if each.ended > since),
        tuple(each for each in edits if each.entry.actor == "agent" and each.entry.at > since),
        edits[0] if edits else None,
    )


def note_visit(place: Place, *, write: bool = True) -> str:
    """Note that a person looks now; return when they looked last, before this visit."""
    path, now = f"{place.home.local}/{_FILE}", int(clock.seconds())
    parts = (files.read(path) or "").split()
    before, seen = map(int, parts) if len(parts) == 2 and all(map(str.isdecimal, parts)) else (0, 0)
    if now - seen > _VISIT:
        before = seen
    if write:
        local_folder.make(place.home)
        atomic.write(path, f"{before} {now}\n", private=True, durable=False)
    since = before or now - _FIRST
    return datetime.fromtimestamp(since, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
