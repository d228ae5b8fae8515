"""Reading parts of transcripts into recall's lines, for much at once in several processes.

A part is whole lines of one file, so memory is bounded by the size of parts, not of files. Workers
end when their pipe does: also when the process that reads is killed.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from memfs import hosts
from memfs.core.private import storable
from memfs.store import recall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection

    from memfs.core.records import Identity, Transcript

PART = 2 << 20  # bytes; a part is longer where a line is
MUCH = 24 << 20  # bytes from which on workers are worth their start
_AHEAD = 4  # parts that are given to each worker before the first is taken back
_MOST_WORKERS = 8


class Part(NamedTuple):
    """The bytes `start` to `end` of a transcript."""

    host: str
    identity: Identity
    path: str
    start: int
    end: int


class Found(NamedTuple):
    """What a part gave. `before` and `mark` are what the file looks like up to it, and with it."""

    rows: recall.Rows
    before: str
    mark: str


Result: TypeAlias = "Found | OSError"
Read: TypeAlias = "Callable[[Iterable[Part | None]], Iterator[tuple[Part | None, Result | None]]]"


def parts(host: str, identity: Identity, path: str, start: int, size: int) -> Iterator[Part]:
    """Cut what stands between two bytes of a file into parts that end where a line does."""
    with open(path, "rb") as handle:
        while start < size:
            end = min(size, start + PART)
            if end < size:
                handle.seek(end)
                end = min(size, end + _rest_of_line(handle.read1, size - end))
            yield Part(host, identity, path, start, end)
            start = end


def read(part: Part) -> Result:
    """Read one part, without secrets and private passages; an `OSError` is given back."""
    try:
        with open(part.path, "rb") as handle:
            handle.seek(part.start)
            data = handle.read(part.end - part.start)
            found = hosts.get(part.host).read_transcript(data, part.identity, start=part.start)
            before = recall.fingerprint_of(handle, part.start) if part.start else ""
            mark = recall.fingerprint_of(handle, found.end)
    except OSError as error:
        return error
    return Found(recall.rows(_storable(found)), before, mark)


@contextmanager
def reading(size: int) -> Iterator[Read]:
    """Give a function that reads parts, in their order: with workers if there are `size` bytes.

    A None among the parts is given back when all before it are, and before the next is asked for.
    """
    count = workers() if size >= MUCH else 0
    if count < 2:
        yield _one_by_one
        return
    started = [_Worker() for _ in range(count)]
    try:
        yield lambda wanted: _ahead(started, wanted)
    finally:
        for worker in started:
            worker.close()


def workers() -> int:
    """Return how many processes read where there is much."""
    if hasattr(os, "sched_getaffinity"):
        return min(_MOST_WORKERS, len(os.sched_getaffinity(0)))
    return min(_MOST_WORKERS, os.cpu_count() or 1)


def _one_by_one(
    wanted: Iterable[Part | None],
) -> Iterator[tuple[Part | None, Result | None]]:
    for part in wanted:
        yield part, read(part) if part else None


def _ahead(
    workers: list[_Worker], wanted: Iterable[Part | None]
) -> Iterator[tuple[Part | None, Result | None]]:
    given: deque[tuple[Part, _Worker]] = deque()
    for number, part in enumerate(wanted):
        if part is None:
            while given:
                yield _take(given)
            yield None, None
            continue
        worker = workers[number % len(workers)]
        worker.give(part)
        given.append((part, worker))
        if len(given) >= _AHEAD * len(workers):
            yield _take(given)
    while given:
        yield _take(given)


def _take(given: deque[tuple[Part, _Worker]]) -> tuple[Part, Result]:
    part, worker = given.popleft()
    return part, worker.take(part)


class _Worker:
    """A process that reads parts. One that died (out of memory, killed) is done without."""

    def __init__(self) -> None:
        from multiprocessing import get_context

        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def give(self, part: Part) -> None:
        with suppress(OSError):
            self._pipe.send(part)

    def take(self, part: Part) -> Result:
        try:
            found: Result = self._pipe.recv()
        except (EOFError, OSError):
            return read(part)
        return found

    def close(self) -> None:
        self._pipe.close()
        self._process.join(5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()


def _serve(pipe: Connection) -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that reads is told, and ends us
    with suppress(EOFError, OSError):
        while True:
            pipe.send(read(pipe.recv()))


def _storable(found: Transcript) -> Transcript:
    """Return a reading without secrets and private parts: before anything of it is written."""
    kept = [message._replace(text=storable(message.text)) for message in found.messages]
    kept = [message for message in kept if message.text]
    left_out = found.left_out + len(found.messages) - len(kept)
    return found._replace(messages=kept, left_out=left_out)


def _rest_of_line(more: Callable[[int], bytes], most: int) -> int:
    """Return how many bytes there are up to the end of a line, `most` if it does not end."""
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
