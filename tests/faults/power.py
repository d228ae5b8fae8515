"""What a power cut leaves: a model of what is sure to be on the disk, beside the real files.

Sure are the bytes of a file at its last fsync, and the names in a folder at the folder's last
fsync. Whether anything newer got there is the system's choice, so there are several ways to lose:
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field

ALL = "all"  # nothing newer than the fsyncs
CONTENTS = "contents"  # every creation, rename and removal, but no bytes that were not fsynced
TRUTHS = "truths"  # as ALL, but derived files are there as they were last seen
LOSSES = (ALL, CONTENTS, TRUTHS)
_DERIVED = ("heads.json", "shown.json")


@dataclass
class File:
    """A file; `synced` is what was in it at its last fsync, `at` when that was written."""

    synced: bytes = b""
    at: int = 0


@dataclass
class Folder:
    """A folder: the names in it now, and those at its last fsync."""

    names: dict[str, File | Folder] = field(default_factory=dict)
    synced: dict[str, File | Folder] = field(default_factory=dict)


class Disk:
    """The files below `root`, all of which are on the disk to begin with."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._top = _load(root)
        self._opened: dict[int, tuple[str, File | Folder | None]] = {}

    def opened(self, handle: int, path: str) -> None:
        """A file or folder was opened; a file that was not there is in its folder now."""
        folder, name = self._in(path)
        if path != self.root and name not in folder.names:
            folder.names[name] = File()
        self._opened[handle] = (path, self._top if path == self.root else folder.names[name])

    def fsync(self, handle: int) -> None:
        path, node = self._opened[handle]
        if isinstance(node, Folder):
            node.synced = dict(node.names)
        elif node is not None:
            node.synced, node.at = _bytes(path), os.stat(path).st_mtime_ns

    def changed(self, call: str, path: str, source: str = "") -> None:
        """A name was made, removed, or taken over from `source`."""
        folder, name = self._in(path)
        match call:
            case "mkdir":
                folder.names[name] = Folder()
            case "unlink" | "rmdir":
                del folder.names[name]
            case _:
                before, old = self._in(source)
                folder.names[name] = before.names.pop(old)

    def settle(self, loss: str) -> None:
        """Make the real files what a power cut leaves of them."""
        kept: list[tuple[str, bytes]] = []
        if loss == TRUTHS:
            kept = [(path, _bytes(path)) for path in _derived(self.root)]
        for entry in list(os.scandir(self.root)):
            shutil.rmtree(entry.path) if entry.is_dir() else os.unlink(entry.path)
        _write(self.root, self._top, contents=loss == CONTENTS)
        for path, data in kept:
            if os.path.isdir(os.path.dirname(path)):
                with open(path, "wb") as handle:
                    handle.write(data)

    def _in(self, path: str) -> tuple[Folder, str]:
        parts = os.path.relpath(path, self.root).split(os.sep)
        folder = self._top
        for part in parts[:-1]:
            inner = folder.names[part]
            if not isinstance(inner, Folder):
                raise NotADirectoryError(path)
            folder = inner
        return folder, parts[-1]


def _load(path: str) -> Folder:
    names: dict[str, File | Folder] = {}
    for entry in os.scandir(path):
        is_folder = entry.is_dir(follow_symlinks=False)
        names[entry.name] = _load(entry.path) if is_folder else _file(entry.path)
    return Folder(names, dict(names))


def _file(path: str) -> File:
    return File(_bytes(path), os.stat(path).st_mtime_ns)


def _write(path: str, folder: Folder, *, contents: bool) -> None:
    for name, node in (folder.names if contents else folder.synced).items():
        if isinstance(node, Folder):
            os.mkdir(f"{path}/{name}", 0o700)
            _write(f"{path}/{name}", node, contents=contents)
        else:
            with open(f"{path}/{name}", "wb") as handle:
                handle.write(node.synced)
            os.utime(f"{path}/{name}", ns=(node.at, node.at))


def _derived(root: str) -> list[str]:
    return [
        f"{folder}/{name}"
        for folder, _, names in os.walk(root)
        for name in names
        if name in _DERIVED or name.endswith(".state.json")
    ]


def _bytes(path: str) -> bytes:
    with open(path, "rb") as handle:
        return handle.read()
