"""From a host's transcript to recall: detected by content, read incrementally, exactly once."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from memfs import files
from memfs.core.errors import StoppedError
from memfs.core.records import Identity
from memfs.files import outside
from memfs.ingest import routing, transcript_files, workers
from memfs.ingest.transcript_files import Sessions
from memfs.ingest.workers import TranscriptPart
from memfs.store import lock, message_records, recall, spool
from memfs.store.store_paths import Store

if TYPE_CHECKING:
    from memfs.search.indexer import Indexer

FORGOTTEN = "the session was forgotten (memfs session forget)"
_EARLIER = "all messages were already read from another transcript of the session"
_BATCH_BYTES = 32 << 20  # of transcripts; what is read of them is then made durable, and noted
_BATCH_FILES = 200
_MOST_RECENT = 8  # cached logs: a copied or resumed session has several transcripts


@dataclass
class Tally:
    """What an ingestion did. `skipped` gives (path, reason) of files that were not read.

    `unplaced` are files with sessions that name no folder, and so are the user's own.
    `commits` are those that are in the memory now, if they were read, too.
    `logs` are the recall files of the transcripts that were looked at, also if nothing was new.
    """

    files: int = 0
    sessions: int = 0
    messages: int = 0
    malformed: int = 0
    left_out: int = 0
    commits: int = 0
    skipped: list[tuple[str, str]] | None = None
    unplaced: list[str] = field(default_factory=list)
    logs: set[str] = field(default_factory=set, repr=False)

    def skip(self, path: str, reason: str) -> None:
        self.skipped = [*(self.skipped or []), (path, reason)]

    def add(self, other: Tally) -> None:
        """Add the counts of another tally, except its files: one may be of several stores."""
        self.sessions += other.sessions
        self.messages += other.messages
        self.malformed += other.malformed
        self.left_out += other.left_out
        self.logs |= other.logs
        if other.skipped:
            self.skipped = [*(self.skipped or []), *other.skipped]


@dataclass
class _Job:
    """A transcript that is being read: how far, and the result so far."""

    path: str
    log: recall.RecallLog
    state: message_records.ReadState | None
    size: int
    mark: str  # the fingerprint of the part that was read
    draft: recall.RecallDraft | None = None
    new: int = 0
    malformed: int = 0
    left_out: int = 0
    fed: bool = False  # to the index, while it is read


def ingest_transcripts(
    store: Store,
    paths: list[str],
    tally: Tally,
    tick: Callable[[int], object] | None = None,
    index: Indexer | None = None,
    session: str = "",
    known: Sessions | None = None,
) -> None:
    """Ingest new messages; `tick` gets the bytes read. The caller holds the ingest lock.

    Of files that hold several sessions, `session` alone if it is given. `known` are the (host,
    identity) to read of each file, if they were identified before (see `identify_files`).

    With an `index`, sessions that it has all of are indexed at once. A kill costs nothing: the next
    run goes on where the last state was written down. A `tick` that raises `StoppedError` ends it:
    what was read is kept.
    """
    work = _Work(store, tally, tick, index, session, known)
    collects = gc.isenabled()
    gc.disable()  # messages hold no cycles, and it takes 5 % of the time
    try:
        with closing(workers.read_all(work.iter_parts(paths), work.get_remaining)) as read:
            for part, found in read:
                if part is None or found is None:
                    work.flush()
                else:
                    work.write_result(part, found)
        work.flush()
    except StoppedError:
        work.flush()
        raise
    finally:
        if collects:
            gc.enable()
        for job in work.jobs.values():
            if job.draft:
                job.draft.discard()


@dataclass
class _Work:
    """Transcripts in reading order: what they give is written in batches that are made durable."""

    store: Store
    tally: Tally
    tick: Callable[[int], object] | None
    index: Indexer | None
    only: str  # the session to read of files that hold several, "" for all
    known: Sessions | None
    fed: dict[str, int] = field(default_factory=dict)  # to which size the index was fed each log
    paths: list[str] = field(default_factory=list)
    told: int = 0  # bytes of them that were read or passed over
    jobs: dict[tuple[str, Identity], _Job] = field(default_factory=dict)  # by path and session
    reading: set[str] = field(default_factory=set)  # the logs of them: one at a time for each
    recent: dict[str, recall.RecallLog] = field(default_factory=dict)  # by path, the latest last
    unsettled: dict[str, tuple[recall.RecallLog, message_records.ReadState]] = field(
        default_factory=dict
    )  # by the path of the log
    bytes: int = 0

    def iter_parts(self, paths: list[str]) -> Iterator[TranscriptPart | None]:
        """Yield the parts to read; None asks the caller to flush all parts before it first.

        A copy of a session that is being read comes later, so that all copies wait once.
        """
        self.tally.files += len(paths)
        self.paths = paths
        while paths:
            later: dict[str, str] = {}  # logs by path
            for path in paths:
                try:
                    yield from self._iter_file_parts(path, later)
                except OSError as error:  # unreadable, or removed meanwhile
                    self.tally.skip(path, error.strerror or transcript_files.UNREADABLE)
            paths = list(later)
            if paths:
                yield None

    def _iter_file_parts(self, path: str, later: dict[str, str]) -> Iterator[TranscriptPart | None]:
        status = outside.status(path)
        if status is None:
            os.stat(path)  # raises the error of a file that cannot be read
            self.tally.skip(path, "not a file")
            return
        size = status.st_size
        if self.known is not None:
            found = self.known[path]
        else:
            # The session that a hook named is one of this store, wherever it was started.
            found = transcript_files.sessions(path, "" if self.only else self.store.top, self.only)
        if not found:
            self._report_progress(size)
            self.tally.skip(path, transcript_files.explain(path))
        for place, (host, identity) in enumerate(found):
            yield from self._iter_session_parts(path, 0 if place else size, host, identity, later)

    def _iter_session_parts(
        self, path: str, size: int, host: str, identity: Identity, later: dict[str, str]
    ) -> Iterator[TranscriptPart | None]:
        """Yield the parts of a session to read; `size` is 0 after the first session of a file."""
        log = self._get_log(recall.RecallLog(self.store, host, identity))
        if log.is_forgotten():
            self._report_progress(size)
            self.tally.skip(path, FORGOTTEN)
            return
        self.tally.logs.add(log.path)
        if log.path in self.reading or log.path in later.values():
            later[path] = log.path
            return
        waiting = self.unsettled.get(log.path)
        log, state = waiting or (log, log.load_state())
        start = _find_start(path, size, identity, state)
        whole = start == 0 and (state is not None or files.is_file(log.path))
        if whole and waiting:  # its replacement must find all of it on the disk
            later[path] = log.path
            return
        self._report_progress(size if start is None else start)
        if start is None:
            self.tally.skip(path, _EARLIER)
        elif start != size or not state or (identity.mark and identity.mark != state.print):
            job = _Job(path, log, state, size, state.print if state else "")
            self.jobs[path, identity] = job
            self.reading.add(log.path)
            if whole:
                job.draft = recall.RecallDraft(log)
            else:
                job.fed = self._is_index_current(log.path, state.kept if state else 0)
            yield from workers.split_parts(host, identity, path, start, size, indexed=job.fed)

    def _is_index_current(self, log: str, size: int) -> bool:
        if log in self.unsettled:
            return self.fed.get(log) == size
        return self.index is not None and self.index.is_indexed_to(log, size)

    def get_remaining(self) -> int:
        """Return how many bytes are still to be read or skipped."""
        return self._size - self.told

    @cached_property
    def _size(self) -> int:
        return transcript_files.measure_size(self.paths)

    def _report_progress(self, size: int) -> None:
        self.told += size
        if self.tick:
            self.tick(size)

    def _get_log(self, log: recall.RecallLog) -> recall.RecallLog:
        log = self.recent.pop(log.path, log)
        self.recent[log.path] = log
        if len(self.recent) > _MOST_RECENT:
            del self.recent[next(iter(self.recent))]
        return log

    def write_result(self, part: TranscriptPart, found: workers.Result) -> None:
        """Write the messages of a part."""
        job = self.jobs.get((part.path, part.identity))
        self._report_progress(part.end - part.start)
        if job is None:
            return
        if isinstance(found, OSError):
            self._finish(part, job, found.strerror or transcript_files.UNREADABLE)
            return
        if part.start and found.before != job.mark:
            self._finish(part, job, "the file changed during the read; the next run reads it again")
            return
        job.mark = found.mark
        job.malformed += found.rows.malformed
        job.left_out += found.rows.left_out
        if job.draft:
            job.draft.add(found.rows)
        else:
            self._extend(job, found)
        if part.end == job.size:
            self._finish(part, job, self._replace_recall_file(job) if job.draft else "")
        self.bytes += part.end - part.start
        if self.bytes >= _BATCH_BYTES or len(self.unsettled) >= _BATCH_FILES:
            self.flush()

    def _extend(self, job: _Job, found: workers.TranscriptRead) -> None:
        job.state = job.state or message_records.ReadState()
        untold, places, merged = job.log.extend(job.state, job.path, found.rows, found.mark)
        job.new += untold + len(places)
        self.unsettled[job.log.path] = job.log, job.state
        if merged:  # the index reads the file again
            job.fed = False
            self.fed.pop(job.log.path, None)
        if not job.fed or not self.index:
            return
        if len(places) < len(found.documents):
            found = found._replace(documents=[found.documents[place] for place in places])
        if found.documents:
            self.index.add_documents(job.log.path, found.documents)
            self.fed[job.log.path] = job.state.kept

    def flush(self) -> None:
        """Make the messages durable, and save how far was read."""
        recall.flush(list(self.unsettled.values()))
        self.unsettled.clear()
        if self.index:
            self.index.record_sizes(self.fed)
            self.fed.clear()
        self.bytes = 0

    @staticmethod
    def _replace_recall_file(job: _Job) -> str:
        """Replace the recall file by the draft; return why not, or ""."""
        draft, state = job.draft, job.state
        if draft is None:
            return ""
        if state and job.path != state.path and draft.is_known(state, job.mark):
            job.malformed = job.left_out = 0
            return _EARLIER
        if not draft.empty or not state:
            job.new = draft.keep(state, job.path, job.mark)
            return ""
        return "the transcript no longer has messages; the earlier ones stay"

    def _finish(self, part: TranscriptPart, job: _Job, reason: str) -> None:
        if job.draft:
            job.draft.discard()
        del self.jobs[part.path, part.identity]
        self.reading.discard(job.log.path)
        if reason:
            self.tally.skip(job.path, reason)
        counts = bool(job.new), job.new, job.malformed, job.left_out
        self.tally.add(Tally(0, *counts))


def session(store: Store, path: str, tally: Tally, name: str = "") -> None:
    """Read what is new in a session: its transcript, and those of its side chains.

    `name` is what its host calls it, which tells it from others in the same file. One that was
    begun in the folder of another store is queued there, and not read here.
    """
    with suppress(OSError, ValueError):  # the reading tells of it
        if other := routing.find_other_store(store, path, name):
            spool.write_note(other[1], other[0], path, name)
            return
    for each in [path, *transcript_files.side_chains(path)]:
        if os.path.exists(each):
            ingest_transcripts(store, [each], tally, session=name)


def drain(store: Store, tally: Tally, wait: float = 2.0) -> None:
    """Read the transcripts that hooks noted in the spool."""
    if not spool.list_notes(store):
        return
    with lock.hold_lock(store, wait, lock.INGEST):
        for note, _, path, name in spool.list_notes(store):
            session(store, path, tally, name)
            spool.remove_note(note)


def _find_start(
    path: str, size: int, identity: Identity, state: message_records.ReadState | None
) -> int | None:
    """Return the byte to read from; None for a file that a later version replaced."""
    if state is None:
        return 0
    if identity.mark:
        gone = path != state.path and any(mark == identity.mark for _, mark in state.versions)
        return size if identity.mark == state.print else None if gone else 0
    if size >= state.offset and message_records.fingerprint(path, state.offset) == state.print:
        return 0 if identity.whole and size > state.offset else state.offset
    for length, mark in state.versions if path != state.path else ():
        if size == length and message_records.fingerprint(path, length) == mark:
            return None
    return 0
