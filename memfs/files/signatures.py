"""Signatures, which change whenever a file, or a file below a folder, does. Hot path."""

import os

from memfs import files

_PRIME = (1 << 127) - 1
_MOST = 4  # levels of folders


class Signature(tuple[int, int, int]):
    """Inode, size in bytes and time of the last change in nanoseconds since 1970."""

    __slots__ = ()

    def __new__(cls, status: os.stat_result) -> "Signature":  # noqa: PYI034 - no typing here
        return tuple.__new__(cls, (status.st_ino, status.st_size, status.st_mtime_ns))

    @property
    def inode(self) -> int:
        return self[0]

    @property
    def size(self) -> int:
        return self[1]

    @property
    def modified(self) -> int:
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
    """Return a signature with the time of the status: a copy or a renamed file has another."""
    return f"{Signature(status)}:{status.st_ctime_ns}"


def sign_files(folder: str) -> dict[str, str] | None:
    """Return the exact signature of each file in a folder, by name.

    None if the folder holds anything but files and folders, or does not exist: a folder that
    libraries open by its path must hold neither links nor files that block readers.
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


def sign_tree(folder: str, left_out: tuple[str, ...], folders_alone: tuple[str, ...]) -> str:
    """Return a number, as text, that changes whenever a file below `folder` is written.

    What begins with a name in `left_out` is skipped. In folders named in `folders_alone` only the
    folders count, which change when a file in them is replaced: their files are many.
    """
    parts: list[str] = []
    _walk(folder, parts, left_out, folders_alone, _MOST)
    return str(int.from_bytes("\n".join(sorted(parts)).encode("utf-8", "replace"), "big") % _PRIME)


def _walk(
    folder: str,
    parts: list[str],
    left_out: tuple[str, ...],
    folders_alone: tuple[str, ...],
    levels: int,
    *,
    alone: bool = False,
) -> None:
    try:
        handle = files.open_folder(folder)
    except OSError:
        return
    inner = []
    try:
        with os.scandir(handle if os.scandir in os.supports_fd else folder) as found:
            for entry in found:
                is_folder = entry.is_dir(follow_symlinks=False)
                if entry.name.startswith(left_out) or (alone and not is_folder):
                    continue
                status = entry.stat(follow_symlinks=False)
                parts.append(f"{folder}/{entry.name} {Signature(status)} {status.st_mode}")
                if is_folder and levels > 1:
                    inner.append(entry.name)
    except OSError:
        return
    finally:
        os.close(handle)
    for name in inner:
        _walk(f"{folder}/{name}", parts, (), (), levels - 1, alone=alone or name in folders_alone)
