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
        for entry in files.scan_folder(folder):
            if entry.is_file(follow_symlinks=False):
                found[entry.name] = sign_exactly(entry.stat(follow_symlinks=False))
            elif not entry.is_dir(follow_symlinks=False):
                return None
    except FileNotFoundError:  # a file went away meanwhile
        return sign_files(folder) if files.is_folder(folder) else None
    except OSError:
        return None
    return found


def sign_tree(top: str, left_out: str, many: str) -> str:
    """Return a number, as text, that changes whenever a file below the folder `top` is written.

    What begins with `left_out` in it is skipped. In its folder `many` only folders count, which
    change when a file in them is replaced.
    """
    parts, waiting = [], [(top, _MOST, False)]
    while waiting:
        folder, levels, alone = waiting.pop()
        try:
            for entry in files.scan_folder(folder):
                is_folder = entry.is_dir(follow_symlinks=False)
                skipped = folder == top and entry.name.startswith(left_out)
                if skipped or (alone and not is_folder):
                    continue
                status = entry.stat(follow_symlinks=False)
                parts.append(f"{folder}/{entry.name} {Signature(status)} {status.st_mode}")
                if is_folder and levels > 1:
                    inner = alone or (folder == top and entry.name == many)
                    waiting.append((f"{folder}/{entry.name}", levels - 1, inner))
        except OSError:
            continue
    return str(int.from_bytes("\n".join(sorted(parts)).encode("utf-8", "replace"), "big") % _PRIME)
