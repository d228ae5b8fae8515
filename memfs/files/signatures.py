"""What files look like from outside: another signature where one was changed. Hot path."""

import os

from memfs import files


class Signature(tuple[int, int, int]):
    """Inode, size in bytes and time of the last change in nanoseconds since 1970."""

    __slots__ = ()

    def __new__(cls, status: os.stat_result) -> "Signature":  # noqa: PYI034 - no typing here
        return tuple.__new__(cls, (status.st_ino, status.st_size, status.st_mtime_ns))

    @property
    def inode(self) -> int:
        """Which file it is: another one that took its place has another, mostly."""
        return self[0]

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self[1]

    @property
    def modified(self) -> int:
        """When it was written last."""
        return self[2]

    def __str__(self) -> str:
        return f"{self.inode}:{self.size}:{self.modified}"


def sign_file(path: str) -> "Signature | None":
    """Return a file's signature, None if it is gone."""
    try:
        status = files.status(path)
    except OSError:
        return None
    return status and Signature(status)


def sign_exactly(status: os.stat_result) -> str:
    """Return what a file has that nobody touches, and a copy of it, or one put there, has not."""
    return f"{Signature(status)}:{status.st_ctime_ns}"


def sign_files(folder: str) -> dict[str, str] | None:
    """Return what each file in a folder looks like to `sign_exactly`.

    None where anything but files and folders is in it, or no such folder is there: what libraries
    open by its path must have neither links in it, nor what blocks who reads it.
    """
    found = {}
    try:
        handle = files.open_folder(folder)
    except OSError:
        return None
    try:
        with os.scandir(handle if os.scandir in os.supports_fd else folder) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    found[entry.name] = sign_exactly(entry.stat(follow_symlinks=False))
                elif not entry.is_dir(follow_symlinks=False):
                    return None
    except FileNotFoundError:  # a file went away meanwhile
        return sign_files(folder)
    finally:
        os.close(handle)
    return found
