"""From a host's transcript to recall: detected by content, read incrementally, exactly once."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from memfs import hosts
from memfs.core.private import storable
from memfs.store import inbox, lock, recall

if TYPE_CHECKING:
    from memfs.core.records import Identity, Transcript
    from memfs.hosts.base import Host
    from memfs.store.layout import Store

LOCK = "ingest.lock"
_EARLIER = "an earlier version of a transcript that was read already"
_HEAD = 256 << 10  # bytes looked at to tell whose transcript a file is; more for long lines
_LONGEST_HEAD = 64 << 20
_HEAD_LINES = 200


@dataclass
class Tally:
    """What an ingestion did. `skipped` gives (path, reason) of files that were not read."""

    files: int = 0
    sessions: int = 0
    messages: int = 0
    malformed: int = 0
    left_out: int = 0
    skipped: list[tuple[str, str]] | None = None

    def skip(self, path: str, reason: str) -> None:
        self.skipped = [*(self.skipped or []), (path, reason)]


class _Reading(NamedTuple):
    """What is new in a transcript, and where it goes."""

    log: recall.Log
    state: recall.State | None
    start: int
    read: Transcript
    mark: str


def transcript(store: Store, path: str, tally: Tally) -> None:
    """Read what is new in one transcript. The caller holds the ingest lock."""
    tally.files += 1
    try:
        reading = _read(store, path, tally)
    except OSError as error:  # unreadable, or removed meanwhile
        tally.skip(path, error.strerror or "cannot be read")
        return
    if reading is None:
        return
    log, state, start, read, mark = reading
    if state and start:
        new = log.extend(state, path, read, mark)
    elif state and path != state.path and log.holds(read):
        tally.skip(path, _EARLIER)
        return
    elif read.messages or not state:
        new = log.replace(state, path, read, mark)
    else:
        tally.skip(path, "holds no messages any more; what it said before is kept")
        return
    tally.sessions += bool(new)
    tally.messages += new
    tally.malformed += read.malformed
    tally.left_out += read.left_out


def _read(store: Store, path: str, tally: Tally) -> _Reading | None:
    """Read what is new in a transcript; None if nothing is, or it is none of ours."""
    size = os.path.getsize(path)
    if not os.path.isfile(path):
        tally.skip(path, "not a file")
        return None
    found = _identify(_head(path), path)
    if found is None:
        tally.skip(path, "not a transcript of a known assistant" if size else "empty")
        return None
    host, identity = found
    log = recall.Log(store, host.NAME, identity)
    state = log.state()
    start = _resume(path, size, state)
    if start is None:
        tally.skip(path, _EARLIER)
        return None
    if state and start == size:
        return None
    with open(path, "rb") as handle:
        handle.seek(start)
        data = handle.read(size - start)
    read = _storable(host.read_transcript(data, identity, start=start))
    return _Reading(log, state, start, read, recall.fingerprint(path, read.end))


def _storable(read: Transcript) -> Transcript:
    """Return a reading without secrets and private parts: before anything of it is written."""
    kept = [message._replace(text=storable(message.text)) for message in read.messages]
    kept = [message for message in kept if message.text]
    return read._replace(messages=kept, left_out=read.left_out + len(read.messages) - len(kept))


def session(store: Store, path: str, tally: Tally) -> None:
    """Read what is new in a session: its transcript, and those of its side chains."""
    for each in [path, *side_chains(path)]:
        if os.path.exists(each):
            transcript(store, each, tally)


def drain(store: Store, tally: Tally, wait: float = 2.0) -> None:
    """Read the transcripts that hooks left word of."""
    if not inbox.waiting(store):
        return
    with lock.hold(store, wait, LOCK):
        for note, _, path in inbox.waiting(store):
            session(store, path, tally)
            inbox.done(note)


def side_chains(path: str) -> list[str]:
    """List the transcripts of a session's subagents, which Claude Code keeps in a folder beside."""
    folder = f"{path.removesuffix('.jsonl')}/subagents"
    try:
        names = sorted(os.listdir(folder))
    except (OSError, ValueError):  # ValueError: a null byte in a path that a host gave
        return []
    return [f"{folder}/{name}" for name in names if name.endswith(".jsonl")]


def find(paths: list[str]) -> list[str]:
    """List the transcript files in files and folders, oldest first."""
    found: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            for folder, _, names in os.walk(path):
                found.extend(f"{folder}/{name}" for name in names if name.endswith(".jsonl"))
        else:
            found.append(path)
    return sorted(dict.fromkeys(found), key=lambda path: (_modified(path), path))


def _head(path: str) -> bytes:
    """Return the first lines of a file, whole: a pasted log makes the first one very long."""
    with open(path, "rb") as handle:
        head = handle.read(_HEAD)
        while head.count(b"\n") < _HEAD_LINES and len(head) < _LONGEST_HEAD:
            more = handle.read(len(head) or 1)
            if not more:
                break
            head += more
    return head


def _identify(head: bytes, path: str) -> tuple[Host, Identity] | None:
    for name in hosts.NAMES:
        host = hosts.get(name)
        identity = host.identify(head, path)
        if identity:
            return host, identity
    return None


def _resume(path: str, size: int, state: recall.State | None) -> int | None:
    """Return the byte to read from; None for a file that a later version has replaced."""
    if state is None:
        return 0
    if size >= state.offset and recall.fingerprint(path, state.offset) == state.print:
        return state.offset
    for length, mark in state.versions if path != state.path else ():
        if size == length and recall.fingerprint(path, length) == mark:
            return None
    return 0


def _modified(path: str) -> float:
    try:
        return os.path.getmtime(path)
    except OSError:
        return 0.0
