"""Files that are not below a store, in paths with links. A FIFO or a device reads as nothing."""

import errno
import os

from memfs import files
from memfs.core.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

_READING = os.O_RDONLY | files.AT_ONCE


def open_stream(path: str, buffer: int = -1) -> "BinaryIO":
    """Open a file to read it in pieces, `buffer` bytes at a time if it is given.

    Raises `NotAFileError`, or another `OSError`.
    """
    return os.fdopen(open_file(path), "rb", buffer)


def open_file(path: str) -> int:
    """Open a file to read it and return its handle, which the caller closes.

    Raises `NotAFileError`, or another `OSError`.
    """
    try:
        handle = os.open(path, _READING)
    except OSError as error:
        if error.errno in (files.NO_READER, errno.ELOOP):
            raise files.NotAFileError(path) from None
        raise
    if os.fstat(handle).st_mode & files.KIND != files.FILE:
        os.close(handle)
        raise files.NotAFileError(path)
    return handle


def status(path: str) -> os.stat_result | None:
    """Return the status of a regular file, None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found if found.st_mode & files.KIND == files.FILE else None


def leads_nowhere(path: str) -> bool:
    """Tell whether a path is a link that leads to itself."""
    try:
        os.stat(path)
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def list_names(folder: str) -> list[str]:
    """List the names in a folder, sorted; none where it is missing or cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def find_inside(path: str, name: str) -> str:
    """Return the file of this name where `path` is the folder that has it, else `path`."""
    inside = os.path.join(path, name)
    return inside if os.path.isdir(path) and os.path.isfile(inside) else path


def read(path: str, cap: int = files.READ_CAP) -> str | None:
    """Return a file's text, at most `cap` bytes; None if there is no regular file."""
    return beginning(path, cap, cap)[0]


def beginning(path: str, most: int, least: int) -> tuple[str | None, int]:
    """Return (text, size in bytes) of a file; one larger than `most` is cut to `least` bytes."""
    try:
        handle = open_file(path)
    except OSError as error:
        if error.errno in files.ABSENT or isinstance(error, files.NotAFileError):
            return None, 0
        raise
    known = os.fstat(handle).st_size
    return files.decode(files.read_bytes(handle, known, most, least)), known


def real_path(path: str, top: str) -> str:
    """Return the real path of a project's file; `top` is the project's folder.

    Raises `StoreError` for a link that leads out of the project.
    """
    real, within = os.path.realpath(path), os.path.realpath(top)
    if not real.startswith(within.rstrip(os.sep) + os.sep):
        raise StoreError(
            f"{path} leads to {real}, outside of the project; memfs does not follow such links",
            "replace the link with a real file or folder",
        )
    return real
