"""Reading parts of transcripts into recall's lines, for much at once in several processes.

A part is whole lines of one file, so memory is bounded by the size of parts, not of files. Workers
end when their pipe does: also when the process that reads is killed.
"""

from __future__ import annotations

import functools
import gc
import os
import pickle
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from typing import IO, Any, NamedTuple, TypeAlias

from memfs import hosts
from memfs.core.events import REVIEW
from memfs.core.privacy import redact_names, storable
from memfs.core.records import Identity, Message, Transcript
from memfs.files import child_process, outside
from memfs.hosts.transcript_files import BEFORE
from memfs.search import doc_json
from memfs.store import message_records, recall, store_paths

PART = 2 << 20  # bytes; a part is longer where a line is
MUCH = 8 << 20  # bytes that were new, and as many to come: workers are worth their start
_SHORT = 4096  # characters of a text that may come again: a tool's output, a file that is read
_AHEAD = 4 * PART  # bytes that are given to each worker before the first part is taken back
_PARTS_AHEAD = 50  # likewise, of small files
_MOST_WORKERS = 8
_PIPE = 1 << 20  # bytes that a worker may be ahead of who takes them


class TranscriptPart(NamedTuple):
    """The bytes `start` to `end` of a transcript; `indexed`: its documents are wanted, too."""

    host: str
    identity: Identity
    path: str
    start: int
    end: int
    indexed: bool = False


class TranscriptRead(NamedTuple):
    """The result of a part. `before` and `mark` fingerprint the file before it and with it.

    `documents` are the rows as the index takes them (see `doc_json.prepared`), if they are wanted.
    """

    rows: recall.RecallRows
    before: str
    mark: str
    documents: list[str]


Result: TypeAlias = "TranscriptRead | OSError"


def split_parts(
    host: str, identity: Identity, path: str, start: int, size: int, *, indexed: bool = False
) -> Iterator[TranscriptPart]:
    """Split the bytes `start` to `size` of a file into parts that end with a line.

    A file that must be read in full is one part.
    """
    if identity.mark:
        yield TranscriptPart(host, identity, path, 0, size, indexed)
        return
    if identity.whole or size - start <= PART:
        if start < size:
            yield TranscriptPart(host, identity, path, start, size, indexed)
        return
    with outside.open_stream(path) as handle:
        while start < size:
            end = min(size, start + PART)
            if end < size:
                handle.seek(end)
                end = min(size, end + _measure_line_rest(handle.read, size - end))
            yield TranscriptPart(host, identity, path, start, end, indexed)
            start = end


def read(part: TranscriptPart) -> Result:
    """Read one part, without secrets and private passages; an `OSError` is returned."""
    try:
        if part.identity.mark:
            found = hosts.collection(part.host).read_session(part.path, part.identity)
            return _make_result(found, "", part.identity.mark, part)
        with outside.open_stream(part.path) as handle:
            handle.seek(max(0, part.start - BEFORE))
            earlier = handle.read(min(part.start, BEFORE))
            data = handle.read(part.end - part.start)
            found = hosts.reader(part.host).read_transcript(
                data, part.identity, start=part.start, before=earlier
            )
            before = message_records.fingerprint_of(handle, part.start) if part.start else ""
            mark = message_records.fingerprint_of(handle, found.end)
    except OSError as error:
        return error
    return _make_result(found, before, mark, part)


def _make_result(found: Transcript, before: str, mark: str, part: TranscriptPart) -> TranscriptRead:
    found = _clean_transcript(found)
    messages = found.messages if part.indexed else ()
    documents = [doc_json.encode(doc_json.document(message)) for message in messages]
    return TranscriptRead(recall.encode_rows(found), before, mark, documents)


def read_all(
    parts: Iterable[TranscriptPart | None], remaining: Callable[[], int]
) -> Generator[tuple[TranscriptPart | None, Result | None], None, None]:
    """Read parts in order, with workers for large inputs (`remaining`: bytes to come).

    A None among the parts is yielded after all before it, and before the next is requested.
    """
    pending: deque[tuple[TranscriptPart, _Worker]] = deque()
    started: list[_Worker] = []
    seen = ahead = 0
    try:
        for number, part in enumerate(parts):
            if part is None:
                while pending:
                    yield _take_result(pending)
                ahead = 0
                yield None, None
                continue
            if not started and (seen < MUCH or remaining() < MUCH or workers() < 2):
                seen += part.end - part.start
                yield part, read(part)
                continue
            started = started or [_Worker() for _ in range(workers())]
            worker = started[number % len(started)]
            worker.send(part)
            pending.append((part, worker))
            ahead += part.end - part.start
            while ahead > _AHEAD * len(started) or len(pending) > _PARTS_AHEAD * len(started):
                ahead -= pending[0][0].end - pending[0][0].start
                yield _take_result(pending)
        while pending:
            yield _take_result(pending)
    finally:
        for worker in started:
            worker.close()


def workers() -> int:
    """Return how many worker processes to use."""
    if hasattr(os, "sched_getaffinity"):
        return min(_MOST_WORKERS, len(os.sched_getaffinity(0)))
    return min(_MOST_WORKERS, os.cpu_count() or 1)


def _take_result(pending: deque[tuple[TranscriptPart, _Worker]]) -> tuple[TranscriptPart, Result]:
    part, worker = pending.popleft()
    return part, worker.receive(part)


class _Worker:
    """A process that reads parts. If it died, this process reads them itself.

    Not `multiprocessing`: that runs the script of the process that reads once more.
    """

    def __init__(self) -> None:
        self.process = child_process.start_child(__name__)
        if sys.platform == "linux" and self.process.stdout:
            import fcntl  # not on Windows

            with suppress(OSError):  # a user with very many pipes
                fcntl.fcntl(self.process.stdout, fcntl.F_SETPIPE_SZ, _PIPE)

    def send(self, part: TranscriptPart) -> None:
        with suppress(OSError):
            if self.process.stdin:
                _send(self.process.stdin, part)

    def receive(self, part: TranscriptPart) -> Result:
        with suppress(EOFError, OSError, pickle.UnpicklingError):
            if self.process.stdout:
                found: Result = _receive(self.process.stdout)
                return found
        return read(part)

    def close(self) -> None:
        child_process.end_child(self.process)


def main() -> None:
    """Run as a worker: read the parts sent on stdin until it ends."""
    gc.disable()  # what is read holds no cycles; looking for them takes a tenth of the time
    with suppress(EOFError, OSError):
        while True:
            _send(sys.stdout.buffer, read(_receive(sys.stdin.buffer)))


def _send(pipe: IO[bytes], value: TranscriptPart | Result) -> None:
    pickle.dump(value, pipe, pickle.HIGHEST_PROTOCOL)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    return pickle.load(pipe)  # noqa: S301 - between processes of our own


_clean_cached = functools.lru_cache(4096)(storable)  # for short texts


def _clean_transcript(found: Transcript) -> Transcript:
    messages = [
        redact_names(each)._replace(
            text=(_clean_cached if len(each.text) <= _SHORT else storable)(each.text)
        )
        for each in found.messages
    ]
    folder = store_paths.model_folder()
    messages = [message for message in messages if message.text and not _is_ours(message, folder)]
    left_out = found.left_out + len(found.messages) - len(messages)
    return found._replace(messages=messages, left_out=left_out)


def _is_ours(message: Message, folder: str) -> bool:
    """Tell whether memfs itself caused a message.

    That is a prompt of ours which a host takes for a person's, or any message of an assistant that
    memfs ran, which is in `folder`.
    """
    prompt = message.role == "user" and message.text.startswith(REVIEW)
    return prompt or message.project == folder


def _measure_line_rest(more: Callable[[int], bytes], most: int) -> int:
    """Return the number of bytes up to the end of a line, `most` if it does not end."""
    seen = 0
    while seen < most:
        data = more(64 << 10)
        at = data.find(b"\n")
        if at >= 0:
            return seen + at + 1
        if not data:
            break
        seen += len(data)
    return most
