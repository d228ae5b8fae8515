"""Recall: what was said, one file of normalised messages for each session. These are the truth."""

import heapq
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from memfs import files
from memfs.core.records import Identity, Message, Transcript
from memfs.files import atomic, logs, trees
from memfs.files.logs import JsonLog
from memfs.store import message_records, store_paths
from memfs.store.message_records import ReadState, encode_message, id_of, read_message
from memfs.store.store_paths import Store

SUFFIX = ".jsonl"
LEVELS = 2  # of folders: one for each host
ASIDE = ".superseded"  # where version 0.2 put what a rewritten transcript no longer had
_STATE = ".state.json"
FORGOTTEN = ".forgotten"  # an empty file: the session of this name is not read again
_PARTS = (SUFFIX, ASIDE, _STATE, ".agent-")  # of the names of a session's files
_KEPT_VERSIONS = 50
_TOGETHER = 1000  # messages that are written at a time


class RecallRows(NamedTuple):
    """Messages as lines of a recall file, and where in the transcript they were read to."""

    ids: list[str]
    lines: list[bytes]
    end: int
    malformed: int
    left_out: int


class RecallExtension(NamedTuple):
    """New messages: how many a killed run had left, and the places of the new rows.

    They are at the end of the recall file, unless they were `merged` into it.
    """

    untold: int
    places: list[int]
    merged: bool = False


class RecallLog:
    """The recall file of one session, or of one side chain of it."""

    def __init__(self, store: Store, host: str, identity: Identity) -> None:
        name = store_paths.file_name(identity.session)
        if identity.agent:
            name += f".agent-{store_paths.file_name(identity.agent)}"
        self.folder = f"{store.local}/recall/{host}"
        self.path = f"{self.folder}/{name}{SUFFIX}"
        self.temporary = f"{self.folder}/.{name}{SUFFIX}.tmp"
        self._state_path = f"{self.folder}/{name}{_STATE}"
        self._forgotten = f"{self.folder}/{store_paths.file_name(identity.session)}{FORGOTTEN}"
        self._known: set[str] | None = None
        self._mended = False

    def load_state(self) -> ReadState | None:
        """Load how far the transcript was read; None if never."""
        return message_records.load(self._state_path)

    def is_forgotten(self) -> bool:
        """Tell whether a person had the session forgotten."""
        return files.is_file(self._forgotten)

    def extend(self, state: ReadState, path: str, rows: RecallRows, mark: str) -> RecallExtension:
        """Add the messages of a transcript that grew, those that are new.

        Nothing of it is durable, and the state is not written, before `flush`. What comes late in
        a file of several transcripts is put in its place, which is durable at once.
        """
        untold = 0
        if not self._mended:
            self._known = None
            state.kept, untold = _repair(self.path, state.kept)
            self._mended = True
        known, new, places = self.load_ids(), [], []
        for place, (ident, line) in enumerate(zip(rows.ids, rows.lines, strict=True)):
            if ident not in known:
                known.add(ident)
                new.append(line)
                places.append(place)
        malformed = state.malformed + rows.malformed
        if new and state.versions and self._is_late(new[0]):
            self._replace(state, path, rows, mark)
            state.malformed = malformed
            return RecallExtension(untold, places, merged=True)
        if new:
            files.make_folder(self.folder, private=True)
            state.kept = logs.append(self.path, b"".join(new), durable=False)
        state.path, state.offset, state.print = path, rows.end, mark
        state.malformed = malformed
        return RecallExtension(untold, places)

    def _is_late(self, line: bytes) -> bool:
        """Tell whether a new message was said before one that is stored."""
        new = read_message(line)
        at = new.at if new else ""
        return bool(at) and any(at < each.at for each in messages(self.path))

    def replace(self, state: ReadState | None, path: str, read: Transcript, mark: str) -> int:
        """Keep the messages of a transcript read whole (see `RecallDraft.keep`)."""
        return self._replace(state, path, encode_rows(read), mark)

    def _replace(self, state: ReadState | None, path: str, rows: RecallRows, mark: str) -> int:
        draft = RecallDraft(self)
        try:
            draft.add(rows)
            return draft.keep(state, path, mark)
        finally:
            draft.discard()

    def save(self, state: ReadState) -> None:
        """Save how far the transcript was read."""
        message_records.save(self._state_path, state)

    def load_ids(self) -> set[str]:
        """Return the ids of the stored messages, read at the first call."""
        if self._known is None:
            self._known = message_records.read_ids(self.path)
        return self._known


def flush(read: list[tuple[RecallLog, ReadState]]) -> None:
    """Make added messages durable, and then save how far was read."""
    logs.sync_all([log.path for log, _ in read if files.is_file(log.path)])
    for folder in sorted({log.folder for log, _ in read}):
        files.make_folder(folder, private=True)
        files.sync_folder(folder)
    for log, state in read:
        log.save(state)


class RecallDraft:
    """A new recall file that will replace the old one, from a transcript read in full.

    Nothing changes until `keep`; `discard` removes it.
    """

    def __init__(self, log: RecallLog) -> None:
        self._log = log
        self._ids: set[str] = set()
        self._size = self._end = self._malformed = 0
        self._handle = -1
        self._made = False

    def discard(self) -> None:
        """Remove the draft, unless it was kept."""
        if self._made:
            self._close()
            files.remove(self._log.temporary)
            self._made = False

    @property
    def empty(self) -> bool:
        return not self._ids

    def add(self, rows: RecallRows) -> None:
        """Add the next messages."""
        new = []
        for ident, line in zip(rows.ids, rows.lines, strict=True):
            if ident not in self._ids:
                self._ids.add(ident)
                new.append(line)
        data = b"".join(new)
        self._open()
        try:
            files.write_all(self._handle, data)
        except OSError as error:
            raise files.name_errors(error, self._log.path) from None
        self._size += len(data)
        self._end = rows.end
        self._malformed += rows.malformed

    def is_known(self, state: ReadState, mark: str) -> bool:
        """Tell whether every message is stored already; if so, note an earlier version."""
        if not self._ids <= self._log.load_ids():
            return False
        if (self._end, mark) not in state.versions:
            state.versions = [*state.versions, (self._end, mark)][-_KEPT_VERSIONS:]
            self._log.save(state)
        return True

    def keep(self, state: ReadState | None, path: str, mark: str) -> int:
        """Replace the recall file by the draft; return how many messages are new.

        What the file has and the draft lacks stays in it, in the order of time: an earlier version
        of the transcript said it, or another transcript of the same session.
        """
        log = self._log
        self._open()
        self._close()
        known = log.load_ids()  # also without a state: it is not fsynced, and may be lost
        new = len(self._ids - known)
        if not known <= self._ids:
            self._merge()
        logs.sync_all([log.temporary])
        atomic.rename(log.temporary, log.path)
        log._known, log._mended = None, False  # noqa: SLF001 - it is another file
        self._made = False
        files.sync_folder(log.folder)
        if state is None:
            state = ReadState()
        else:
            state.versions = [*state.versions, (state.offset, state.print)][-_KEPT_VERSIONS:]
        state.path, state.offset, state.print = path, self._end, mark
        state.kept, state.malformed = self._size, self._malformed
        log.save(state)
        return new

    def _merge(self) -> None:
        """Put what the recall file has, and this draft lacks, into the draft."""
        log = self._log
        lacking = (each for each in messages(log.path) if each.id not in self._ids)
        both = heapq.merge(
            _list_times(messages(log.temporary)), _list_times(lacking), key=itemgetter(0)
        )
        merged = f"{log.temporary.removesuffix('.tmp')}.merged.tmp"
        handle, _ = files.open_file(merged, os.O_WRONLY | os.O_CREAT)
        try:
            os.ftruncate(handle, 0)
            self._size = 0
            while part := list(islice(both, _TOGETHER)):
                data = b"".join(encode_message(message) for _, message in part)
                files.write_all(handle, data)
                self._size += len(data)
            atomic.rename(merged, log.temporary)
        except BaseException as error:
            files.remove(merged)
            files.name_errors(error, merged)
            raise
        finally:
            os.close(handle)

    def _open(self) -> None:
        if self._made:
            return
        files.make_folder(self._log.folder, private=True)
        self._handle, _ = files.open_file(self._log.temporary, os.O_WRONLY | os.O_CREAT)
        self._made = True
        try:
            os.ftruncate(self._handle, 0)
        except OSError as error:
            raise files.name_errors(error, self._log.temporary) from None

    def _close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def _list_times(found: Iterable[Message]) -> Iterator[tuple[str, Message]]:
    """Yield messages with their times; one without a time has that of the one before."""
    at = ""
    for message in found:
        at = message.at or at
        yield at, message


def encode_rows(read: Transcript) -> RecallRows:
    """Encode the messages of a reading as lines of a recall file."""
    ids = [message.id for message in read.messages]
    lines = list(map(encode_message, read.messages))
    return RecallRows(ids, lines, read.end, read.malformed, read.left_out)


def parse(data: bytes) -> tuple[list[Message], int]:
    """Return the messages in the bytes of a recall file, and how many lines are none."""
    whole = [line + b"\n" for line in data.split(b"\n") if line.strip()]
    found = [message for line in whole if (message := read_message(line))]
    return found, len(whole) - len(found)


def is_read_elsewhere(path: str) -> bool:
    """Tell whether the messages of a recall file come from a transcript, or were forgotten.

    Nothing else may add to it.
    """
    name = path.removesuffix(SUFFIX)
    return files.is_file(name + _STATE) or files.is_file(name.partition(".agent-")[0] + FORGOTTEN)


def write_session(path: str, found: list[Message]) -> None:
    """Write a recall file that no transcript is read into. The caller holds the ingest lock."""
    files.make_folder(os.path.dirname(path), private=True)
    text = b"".join(map(encode_message, found)).decode("ascii")
    atomic.write(path, text, private=True, locked=True)


def remove_session(path: str) -> None:
    """Remove a recall file that no transcript is read into. The caller holds the ingest lock."""
    files.remove(path)
    files.sync_folder(os.path.dirname(path))


def rewrite(path: str, change: Callable[[str], str]) -> None:
    """Change the text of a recall file; ids stay, so reading goes on where it was.

    The caller holds the ingest lock. A state that was left behind by a kill is made to agree.
    """
    _repair(path)
    before = files.decode(logs.read_whole(path) or b"")
    after = change(before)
    if after != before:
        atomic.write(path, after, private=True, locked=True)
    state_path = path.removesuffix(SUFFIX) + _STATE
    state = message_records.load(state_path) if path.endswith(SUFFIX) else None
    if state and state.kept != len(files.encode(after)):
        state.kept = len(files.encode(after))
        message_records.save(state_path, state)


def sources(store: Store) -> list[str]:
    """List the recall files of a store."""
    listed = trees.walk(f"{store.local}/recall", levels=LEVELS)
    return sorted(found.path for found in listed if found.name.endswith(SUFFIX))


def get_path(store: Store, host: str, session: str) -> str:
    """Return the recall file of a session, whether it is there or not."""
    return RecallLog(store, host, Identity(session, "")).path


def get_session(path: str, said: Message | None) -> str:
    """Return the id of the session of a recall file: a message's, if the file has its name.

    Else it came from elsewhere, and what it says of itself is not believed.
    """
    name = os.path.basename(path).removesuffix(SUFFIX)
    return said.session if said and store_paths.file_name(said.session) == name else name


def forget(store: Store, host: str, session: str) -> None:
    """Remove all that is kept of a session and its side chains, and note not to read it again.

    Its own messages go last: by them it is listed. The caller holds the lock of ingestion.
    """
    folder = f"{store.local}/recall/{host}"
    name = store_paths.file_name(session)
    files.make_folder(folder, private=True)
    files.make_empty(f"{folder}/{name}{FORGOTTEN}")
    files.sync_folder(folder)
    for each in sorted(files.names(folder), key=lambda each: each == f"{name}{SUFFIX}"):
        bare = each.removeprefix(".")  # what a killed run left half-written
        if bare.startswith(name) and bare[len(name) :].startswith(_PARTS):
            files.remove(f"{folder}/{each}")
    files.sync_folder(folder)


def read_last(path: str) -> Message | None:
    """Return the last message of a recall file; None where there is none."""
    size = files.get_size(path)
    return next(messages(path, size - 1), None) if size else None


def messages(path: str, start: int = 0) -> Iterator[Message]:
    """Read the messages of a recall file from byte `start` on; damaged lines are left out.

    So is a last line without line end: it is still being written, or its writer was killed. A
    start inside a line goes back to the beginning of that line.
    """
    return (message for message, _ in _LOG.read(path, start) if message)


def find_messages(path: str, idents: Collection[str]) -> list[Message]:
    """Read the messages of a recall file that have one of some ids; no other line is decoded."""
    with logs.open_stream(path) as handle:
        lines = [line for line in handle if id_of(line) in idents]
    return list(filter(None, map(read_message, lines)))


def read_with_offsets(path: str, start: int = 0) -> Iterator[tuple[Message, int]]:
    """Read messages as `messages` does, each with the byte offset after its line."""
    return ((message, end) for message, end in _LOG.read(path, start) if message)


def _repair(path: str, start: int | None = None) -> tuple[int, int]:
    """Cut off what a killed run left behind the last whole message; return (size, messages)."""
    size = files.get_size(path)
    if not size:
        return 0, 0
    with logs.open_stream(path) as handle:
        end = logs.find_line_start(handle, size if start is None else min(start, size))
    ends = [end, *(here for _, here in read_with_offsets(path, end))]
    if ends[-1] < size:
        logs.truncate_log(path, ends[-1])
    return ends[-1], len(ends) - 1


_LOG = JsonLog(encode_message, read_message)
