"""Append-only files: appends are durable, and a failed one leaves the file unchanged."""

from __future__ import annotations

import errno
import os
import threading
from typing import BinaryIO

from memfs import files

LARGEST = 1 << 30  # bytes of a journal, of recall, of facts
_MANY = 16  # files from which on they are synced in parallel
_ABREAST = 8


def open_stream(path: str) -> BinaryIO:
    """Open a file to read it in pieces.

    Raises `FileNotFoundError`, or `OSError` for one of more than `LARGEST` bytes, and others.
    """
    handle, status = files.open_file(path)
    _check_size(handle, status.st_size, path)
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
    try:
        handle, status = files.open_file(path)
    except OSError as error:
        if error.errno in files.ABSENT or isinstance(error, files.LinkError | files.NotAFileError):
            return None
        raise
    _check_size(handle, status.st_size, path)
    os.lseek(handle, start, os.SEEK_SET)
    return files.read_bytes(handle, max(0, status.st_size - start), LARGEST, LARGEST)


def _check_size(handle: int, size: int, path: str) -> None:
    if size > LARGEST:
        os.close(handle)
        raise OSError(errno.EFBIG, f"it is larger than {LARGEST >> 20:,} MB", path)


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


def read_lines(path: str, start: int = 0) -> list[bytes]:
    """Return the whole lines of a file from byte `start` on, without their ends; [] for no file.

    A last line without an end was torn by a kill, and is left out. Raises `OSError`.
    """
    return (read_whole(path, start) or b"").split(b"\n")[:-1]


def cut_torn_line(path: str) -> None:
    """Remove a last line without an end, which a kill left. Raises `OSError`."""
    data = read_whole(path) or b""
    end = data.rfind(b"\n") + 1
    if end < len(data):
        truncate_log(path, end)


def add_lines(path: str, lines: str, *, private: bool) -> int:
    """Append whole lines durably, after ending a torn last one; return the new size."""
    before = files.get_size(path)
    torn = before > 0 and last_byte(path, before) != b"\n"
    return append(path, files.encode("\n" * torn + lines), private=private)


def last_byte(path: str, end: int) -> bytes:
    """Return the byte before byte `end` of a file, b"" where it has none. Raises `OSError`."""
    handle, _ = files.open_file(path)
    try:
        os.lseek(handle, max(0, end - 1), os.SEEK_SET)
        return os.read(handle, 1)
    finally:
        os.close(handle)


def sync_all(paths: list[str]) -> None:
    """Sync files to disk.

    Many are synced in parallel: the disk's journal takes a tenth of the time for them together.
    """
    if len(paths) < _MANY:
        for path in paths:
            _sync(path)
        return
    failed: list[BaseException] = []

    def sync(share: list[str]) -> None:
        try:
            for path in share:
                _sync(path)
        except OSError as error:
            failed.append(error)

    shares = [paths[first::_ABREAST] for first in range(_ABREAST)]
    threads = [threading.Thread(target=sync, args=(share,)) for share in shares]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


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
