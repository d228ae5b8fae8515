"""Append-only files: appends are durable, and a failed one leaves the file unchanged."""

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import BinaryIO, Generic, NamedTuple, TypeVar

from memfs import files
from memfs.core.errors import UNREADABLE
from memfs.files import atomic

Record = TypeVar("Record")
Value = TypeVar("Value")

LARGEST = 1 << 30  # bytes of a journal, of recall, of facts
_MANY = 16  # files from which on they are synced in parallel
_ABREAST = 8


def open_stream(path: str) -> BinaryIO:
    """Open a file to read it in pieces.

    Raises `FileNotFoundError`, or `OSError` for one of more than `LARGEST` bytes, and others.
    """
    handle, status = files.open_file(path)
    if status.st_size > LARGEST:
        os.close(handle)
        raise OSError(errno.EFBIG, f"the file is larger than {LARGEST >> 20:,} MB", path)
    return os.fdopen(handle, "rb")


def open_appending(path: str) -> BinaryIO:
    """Open a private file to add to its end; it is made if there is none. Raises `OSError`."""
    handle, _ = files.open_file(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    return os.fdopen(handle, "ab")


def open_patching(path: str) -> BinaryIO:
    """Open a private file to change bytes in it; it is made if there is none. Raises `OSError`."""
    handle, _ = files.open_file(path, os.O_RDWR | os.O_CREAT)
    return os.fdopen(handle, "r+b")


def read_whole(path: str, start: int = 0) -> bytes | None:
    """Return all of a file that grows, from byte `start` on; None if there is none.

    Raises `OSError` for one of more than `LARGEST` bytes, which no such file has.
    """
    handle = _open_existing(path)
    if handle is None:
        return None
    with handle:
        handle.seek(start)
        return handle.read()


def _open_existing(path: str) -> BinaryIO | None:
    try:
        return open_stream(path)
    except OSError as error:
        if error.errno in files.ABSENT or isinstance(error, files.LinkError | files.NotAFileError):
            return None
        raise


def append(path: str, data: bytes, *, private: bool = True, durable: bool = True) -> int:
    """Append and return the new size; after a failure the file is as it was.

    `durable=False` leaves the fsyncs out: `sync_all` and `sync_folder` make up for them.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    handle, status = files.open_file(path, flags, 0o600 if private else 0o666)
    before = status.st_size
    try:
        try:
            files.write_all(handle, data)
            if durable:
                os.fsync(handle)
        except BaseException as error:  # noqa: BLE001 - it is raised again
            os.ftruncate(handle, before)
            raise files.name_errors(error, path) from None
    finally:
        os.close(handle)
    if durable and before == 0:
        files.sync_folder(os.path.dirname(path))
    return before + len(data)


def last_byte(path: str, end: int) -> bytes:
    """Return the byte before byte `end` of a file, b"" where it has none. Raises `OSError`."""
    handle, _ = files.open_file(path)
    try:
        os.lseek(handle, max(0, end - 1), os.SEEK_SET)
        return os.read(handle, 1)
    finally:
        os.close(handle)


def sync_all(paths: list[str]) -> None:
    """Sync files to disk."""
    if len(paths) < _MANY:
        for path in paths:
            _sync(path)
        return
    from concurrent.futures import ThreadPoolExecutor  # hooks sync few

    with ThreadPoolExecutor(_ABREAST) as pool:
        list(pool.map(_sync, paths))  # raises the first error


def _sync(path: str) -> None:
    handle, _ = files.open_file(path, os.O_RDWR)
    try:
        os.fsync(handle)
    except OSError as error:
        raise files.name_errors(error, path) from None
    finally:
        os.close(handle)


def truncate_log(path: str, size: int) -> None:
    """Cut a file off behind its first `size` bytes, durably."""
    handle, _ = files.open_file(path, os.O_WRONLY)
    try:
        os.ftruncate(handle, size)
        os.fsync(handle)
    except OSError as error:
        raise files.name_errors(error, path) from None
    finally:
        os.close(handle)


def find_line_start(handle: BinaryIO, at: int) -> int:
    """Return where the line begins that byte `at` of an open file is in."""
    step = 64 << 10
    while at:
        first = max(0, at - step)
        handle.seek(first)
        end = handle.read(at - first).rfind(b"\n")
        if end >= 0:
            return first + end + 1
        at = first
    return 0


def have_type(kind: type, *values: object) -> bool:
    """Tell whether all values of a decoded line are of one type; `True` is no int."""
    return all(type(value) is kind for value in values)


class JsonLog(NamedTuple, Generic[Record]):
    """The form of files with records, a JSON object a line. Lines are added, or all replaced.

    `encode` returns a line with its end; `decode` returns None, or raises one of `UNREADABLE`, for
    a line that is no record. A last line without an end was torn by a kill: it is not read, and
    the next append removes it. In a `shared` file, which people and git write, too, it counts.
    """

    encode: Callable[[Record], bytes]
    decode: Callable[[bytes], Record | None]
    shared: bool = False

    def append(self, path: str, records: Sequence[Record], *, private: bool = True) -> list[int]:
        """Append records in one durable write; return where the line of each begins."""
        lines = list(map(self.encode, records))
        size = files.get_size(path)
        is_torn = size > 0 and last_byte(path, size) != b"\n"
        if is_torn and not self.shared:
            with open_stream(path) as handle:
                truncate_log(path, find_line_start(handle, size))
        end = b"\n" * (is_torn and self.shared)
        size = append(path, end + b"".join(lines), private=private)
        return list(accumulate(map(len, lines), initial=size - sum(map(len, lines))))[:-1]

    def read(self, path: str, start: int = 0) -> Iterator[tuple[Record | None, int]]:
        """Yield the record of each line from byte `start` on, and where the line ends.

        None for a line that is no record; no line for no file. A start inside a line goes back to
        the beginning of that line.
        """
        return self._map_lines(self._parse, path, start)

    def find_damaged(self, path: str) -> list[int]:
        """Return the numbers (from 1) of the lines that are no records; blank ones are none."""
        lines = enumerate(self._map_lines(bytes, path), 1)
        return [at for at, (line, _) in lines if line.strip() and self._parse(line) is None]

    def rewrite(self, path: str, change: Callable[[Record], Record | None]) -> int:
        """Write a file with `change` of each record, None: without it; return how many changed.

        Other lines keep their bytes, also those that are no records. The caller holds a lock.
        """
        lines, count = [], 0
        for line, _ in self._map_lines(bytes, path):
            before = self._parse(line)
            after = None if before is None else change(before)
            if after == before:
                lines.append(line if line.endswith(b"\n") else line + b"\n")
            else:
                count += 1
                lines += [] if after is None else [self.encode(after)]
        if count:
            atomic.write(path, files.decode(b"".join(lines)), private=True)
        return count

    def _parse(self, line: bytes) -> Record | None:
        try:
            return self.decode(line)
        except UNREADABLE:
            return None

    def _map_lines(
        self, convert: Callable[[bytes], Value], path: str, start: int = 0
    ) -> Iterator[tuple[Value, int]]:
        """Yield what `convert` makes of each line that counts, and the byte after it."""
        handle = _open_existing(path)
        if handle is None:
            return
        with handle:
            end = find_line_start(handle, start)
            handle.seek(end)
            for line in handle:
                end += len(line)
                if self.shared or line.endswith(b"\n"):
                    yield convert(line), end
