"""Recall: what was said, one file of normalised messages for each session.

These files are the truth: hosts delete their transcripts. Reading is incremental; a state file
says up to where a transcript was read and what its read part looked like.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memfs.core.records import Identity, Message
from memfs.store import files, layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from memfs.core.records import Transcript
    from memfs.store.layout import Store

SUFFIX = ".jsonl"
ASIDE = ".superseded"  # what a rewritten transcript no longer says
_STATE = ".state.json"
_SAMPLE = 4096  # bytes at the beginning and the end of what was read, to notice a rewritten file
_KEPT_VERSIONS = 50
_PREFIX = b'{"id": '
_DECODER = json.JSONDecoder()


@dataclass
class State:
    """How far a transcript was read: `offset` bytes, which looked like `print`.

    `path` is where it was. `kept` is the size of our own file then: what is behind it may be
    torn. `versions` are (size, print) of transcripts that a rewritten one has replaced.
    """

    path: str = ""
    offset: int = 0
    print: str = ""
    kept: int = 0
    malformed: int = 0
    versions: list[tuple[int, str]] = field(default_factory=list)


class Log:
    """The recall file of one session, or of one side chain of it."""

    def __init__(self, store: Store, host: str, identity: Identity) -> None:
        name = layout.file_name(identity.session)
        if identity.agent:
            name += f".agent-{layout.file_name(identity.agent)}"
        self.folder = f"{store.local}/recall/{host}"
        self.path = f"{self.folder}/{name}{SUFFIX}"
        self._state_path = f"{self.folder}/{name}{_STATE}"

    def state(self) -> State | None:
        """Return how far the transcript was read; None if never."""
        return _read_state(self._state_path)

    def holds(self, read: Transcript) -> bool:
        """Tell whether every message of a reading is known already."""
        known = _ids(self.path)
        return all(message.id in known for message in read.messages)

    def extend(self, state: State, path: str, read: Transcript, mark: str) -> int:
        """Add the messages of a transcript that grew; return how many were new."""
        state.kept, untold = _mend(self.path, state.kept)
        known = _ids(self.path)
        new = [message for message in read.messages if message.id not in known]
        if new:
            files.make_folder(self.folder, private=True)
            state.kept = files.append(self.path, _lines(new))
        state.path, state.offset, state.print = path, read.end, mark
        state.malformed += read.malformed
        self._save(state)
        return untold + len(new)

    def replace(self, state: State | None, path: str, read: Transcript, mark: str) -> int:
        """Keep the messages of a transcript read whole; return how many were not known before.

        What an earlier version of the transcript said, and this one does not, is set aside in a
        file that is not searched.
        """
        files.make_folder(self.folder, private=True)
        known = _ids(self.path)  # also without a state: it is not fsynced, and may be lost
        aside = self.path.removesuffix(SUFFIX) + ASIDE
        lost = known - {message.id for message in read.messages}
        if lost:
            _mend(aside)
            lost -= _ids(aside)  # set aside by a run that was killed before it went on
            gone = [message for message in messages(self.path) if message.id in lost]
            files.append(aside, _lines(gone))
        data = _lines(read.messages)
        files.write(self.path, data.decode("utf-8"), private=True, locked=True)
        versions = [*state.versions, (state.offset, state.print)] if state else []
        kept = versions[-_KEPT_VERSIONS:]
        self._save(State(path, read.end, mark, len(data), read.malformed, kept))
        return sum(message.id not in known for message in read.messages)

    def _save(self, state: State) -> None:
        _write_state(self._state_path, state)


def fingerprint(path: str, offset: int) -> str:
    """Return a hash of the first and the last bytes of the first `offset` bytes of a file."""
    with open(path, "rb") as handle:
        head = handle.read(min(offset, _SAMPLE))
        handle.seek(max(0, offset - _SAMPLE))
        tail = handle.read(min(offset, _SAMPLE))
    return hashlib.sha256(head + b"|" + tail).hexdigest()[:32]


def parse(data: bytes) -> tuple[list[Message], int]:
    """Return the messages in the bytes of a recall file, and how many lines are none."""
    lines = [line + b"\n" for line in data.split(b"\n") if line.strip()]
    found = [message for line in lines if (message := _message(line))]
    return found, len(lines) - len(found)


def add(path: str, found: list[Message]) -> None:
    """Write a recall file that is not there yet. The caller holds the ingest lock."""
    files.make_folder(os.path.dirname(path), private=True)
    files.write(path, _lines(found).decode("ascii"), private=True, locked=True)


def rewrite(path: str, change: Callable[[str], str]) -> None:
    """Change the text of a recall file; ids stay, so reading goes on where it was.

    The caller holds the ingest lock. A state that was left behind by a kill is made to agree.
    """
    _mend(path)
    before = files.read(path, cap=1 << 40) or ""
    after = change(before)
    if after != before:
        files.write(path, after, private=True, locked=True)
    state_path = path.removesuffix(SUFFIX) + _STATE
    state = _read_state(state_path) if path.endswith(SUFFIX) else None
    if state and state.kept != len(files.encode(after)):
        state.kept = len(files.encode(after))
        _write_state(state_path, state)


def sources(store: Store) -> list[str]:
    """List the recall files of a store."""
    found: list[str] = []
    for folder, _, names in os.walk(f"{store.local}/recall"):
        found.extend(f"{folder}/{name}" for name in names if name.endswith(SUFFIX))
    return sorted(found)


def messages(path: str, start: int = 0) -> Iterator[Message]:
    """Read the messages of a recall file from byte `start` on; damaged lines are left out.

    So is a last line without line end: it is still being written, or its writer was killed. A
    start inside a line is such an end of before, and goes back to that line's beginning.
    """
    with open(path, "rb") as handle:
        handle.seek(_line_start(handle, start))
        for line in handle:
            message = _message(line)
            if message is not None:
                yield message


def _read_state(path: str) -> State | None:
    try:
        found = json.loads(files.read(path) or "")
        found["versions"] = [(int(size), str(mark)) for size, mark in found["versions"]]
        return State(**found)
    except (ValueError, TypeError, KeyError):
        return None


def _write_state(path: str, state: State) -> None:
    files.write(path, json.dumps(vars(state)), private=True, durable=False, locked=True)


def _message(line: bytes) -> Message | None:
    """Return the message of a whole line; None for one that is damaged or not whole."""
    try:
        return Message(**json.loads(line)) if line.endswith(b"\n") else None
    except (ValueError, TypeError):
        return None


def _mend(path: str, start: int | None = None) -> tuple[int, int]:
    """Cut off what a killed run left behind the last whole message; return (size, messages).

    Looked at is what is behind byte `start`, or the last line. Whole messages there stay, and are
    counted: the state that says where the file ends is not fsynced, and may be older than they are.
    """
    try:
        with open(path, "rb") as handle:
            size = os.fstat(handle.fileno()).st_size
            at = end = _line_start(handle, size if start is None else min(start, size))
            handle.seek(at)
            count = 0
            for line in handle:
                at += len(line)
                if _message(line) is not None:
                    count, end = count + 1, at
    except FileNotFoundError:
        return 0, 0
    if end < size:
        files.cut(path, end)
    return end, count


def _line_start(handle: BinaryIO, at: int) -> int:
    step = 64 << 10
    while at:
        first = max(0, at - step)
        handle.seek(first)
        end = handle.read(at - first).rfind(b"\n")
        if end >= 0:
            return first + end + 1
        at = first
    return 0


def _ids(path: str) -> set[str]:
    """Return the ids of the messages in a recall file."""
    try:
        with open(path, "rb") as handle:
            return {found for line in handle if (found := _id(line))}
    except FileNotFoundError:
        return set()


def _id(line: bytes) -> str:
    """Return the id of a line of ours without parsing all of it; "" for a damaged line."""
    try:
        found, _ = _DECODER.raw_decode(line.decode("ascii"), len(_PREFIX))
    except ValueError:
        return ""
    return found if isinstance(found, str) and line.startswith(_PREFIX) else ""


def _lines(found: list[Message]) -> bytes:
    return b"".join(_line(message) for message in found)


def _line(message: Message) -> bytes:
    return json.dumps(message._asdict()).encode("ascii") + b"\n"
