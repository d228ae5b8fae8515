"""Whole folders below a store: walked and removed without following a link."""

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

from memfs import files

UNREADABLE = "cannot be read"  # why a walk leaves a folder out
DEEPEST = 32  # levels of folders that are walked; memory has fewer
_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class TreeFile(NamedTuple):
    """A file of a walk: its path, and its path relative to the top of the walk."""

    path: str
    name: str


def walk(
    top: str,
    *,
    levels: int = DEEPEST,
    top_too: bool = True,
    left_out: Callable[[str, str], object] | None = None,
) -> Iterator[TreeFile]:
    """Yield the files below a folder, sorted; nothing where there is no such folder.

    `left_out` is called with (path, reason) for everything skipped: links, FIFOs and devices,
    folders that are repositories, cannot be read, or are deeper than `levels`. The top may be a
    repository only without `top_too`.
    """
    waiting = [("", levels)]
    while waiting:
        inner, left = waiting.pop()
        folder = f"{top}/{inner}" if inner else top
        try:
            found = sorted(files.entries(folder))
            if left_out:
                for name, what in _list_others(folder):
                    left_out(f"{folder}/{name}", what)
        except OSError as error:
            if left_out and not isinstance(error, FileNotFoundError):
                left_out(folder, f"{UNREADABLE}: {error.strerror}")
            continue
        if (inner or top_too) and any(name == ".git" for name, _ in found):
            if left_out:
                left_out(folder, "a separate git repository")
            continue
        below = []
        for name, is_folder in found:
            path = f"{inner}/{name}" if inner else name
            if not is_folder:
                yield TreeFile(f"{top}/{path}", path)
            elif left > 1 and name != ".git":
                below.append((path, left - 1))
            elif left_out and name != ".git":
                left_out(f"{top}/{path}", "a folder nested too deeply")
        waiting.extend(reversed(below))


def list_times(folder: str) -> list[tuple[int, str]]:
    """List (when it was written, in nanoseconds; name) of the files in a folder, unsorted."""
    return [
        (entry.stat(follow_symlinks=False).st_mtime_ns, entry.name)
        for entry in (files.scan_folder(folder) if files.is_folder(folder) else ())
        if entry.is_file(follow_symlinks=False)
    ]


def _list_others(folder: str) -> list[tuple[str, str]]:
    return sorted(
        (
            entry.name,
            _KINDS.get(stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode), "a special file"),
        )
        for entry in files.scan_folder(folder)
        if not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False))
    )


def clear_others(folder: str) -> None:
    """Remove the entries of a folder of derived files that are neither file nor folder."""
    for name, _ in _list_others(folder):
        files.remove(f"{folder}/{name}")


def remove(folder: str) -> None:
    """Remove a folder and its contents as far as possible; links are removed, not followed."""
    with suppress(OSError, RecursionError):  # an attacker may have made thousands of levels
        remove_whole(folder, ignore_errors=True)


def remove_whole(folder: str, *, ignore_errors: bool = False) -> None:
    """Remove a folder and its contents; links are removed, not followed. Raises `OSError`."""
    with files.NamedBeside(folder) as at:
        shutil.rmtree(at.name, ignore_errors=ignore_errors, dir_fd=at.folder)


def measure_size(folder: str) -> int:
    """Return the size of the files below a folder, in bytes."""
    return sum(files.get_size(found.path) for found in walk(folder))


def set_mode(path: str, mode: int) -> None:
    """Give a file or folder a mode. Raises `LinkError`, `OSError`."""
    with files.NamedBeside(path) as at:
        found = os.stat(at.name, dir_fd=at.folder, follow_symlinks=False)
        if found.st_mode & files.KIND == files.LINK:
            raise files.LinkError(path)
        os.chmod(at.name, mode, dir_fd=at.folder)


def get_room(folder: str) -> int:
    """Return the bytes that a user may still write to the disk of a folder."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize if disk.f_blocks else sys.maxsize
