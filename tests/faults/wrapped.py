"""The functions that change files, as a child of the harness has them."""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Callable
from functools import partial, partialmethod
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from tests.faults.harness import Injector

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_NAMES = (
    "open close write fsync ftruncate unlink remove mkdir rmdir replace rename truncate".split()
)


class Calls:
    """Our functions of these names, over the real ones."""

    def __init__(self, injector: Injector) -> None:
        self._to = injector
        self._disk = injector.disk
        self._real: Any = {name: getattr(os, name) for name in _NAMES}
        self._real_open = builtins.open
        self._paths: dict[int, str] = {}

    def restore(self) -> None:
        for name, real in self._real.items():
            setattr(os, name, real)
        builtins.open = io.open = self._real_open

    def open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        name = self._path(path, dir_fd)

        def real() -> int:
            handle: int = self._real["open"](path, flags, mode, dir_fd=dir_fd)
            self._paths[handle] = name
            if self._disk and (self._to.holds(name) or name == self._to.world):
                self._disk.opened(handle, name)
            return handle

        if not flags & _WRITING or not self._to.holds(name):
            return real()
        made = "create" if flags & os.O_CREAT and not os.path.lexists(name) else "open"
        return int(self._to.point(made, name, real))

    def close(self, handle: int) -> None:
        self._paths.pop(handle, None)
        self._real["close"](handle)

    def write(self, handle: int, data: Any) -> int:
        view = memoryview(data)
        real = partial(self._real["write"], handle)
        half = partial(real, view[: len(view) // 2])
        return int(self._on_handle("write", handle, partial(real, view), half))

    def fsync(self, handle: int) -> None:
        """Not really: the tests cut no real power, and it takes most of the time."""

        def real() -> None:
            if self._disk:
                self._disk.fsync(handle)

        self._on_handle("fsync", handle, real)

    def ftruncate(self, handle: int, size: int) -> None:
        self._on_handle("ftruncate", handle, lambda: self._real["ftruncate"](handle, size))

    def truncate(self, *_: object) -> NoReturn:
        raise AssertionError("os.truncate is not known to the harness")

    def _change_name(self, name: str, path: Any, *more: Any, dir_fd: int | None = None) -> None:
        real = partial(self._real[name], path, *more, dir_fd=dir_fd)
        self._change(name, self._path(path, dir_fd), real)

    unlink = remove = partialmethod(_change_name, "unlink")
    mkdir = partialmethod(_change_name, "mkdir")
    rmdir = partialmethod(_change_name, "rmdir")

    def replace(
        self, old: Any, new: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None
    ) -> None:
        source, target = self._path(old, src_dir_fd), self._path(new, dst_dir_fd)
        folders = {"src_dir_fd": src_dir_fd, "dst_dir_fd": dst_dir_fd}
        self._change("replace", target, partial(self._real["replace"], old, new, **folders), source)

    rename = replace

    def open_file(self, file: Any, mode: str = "r", *rest: Any, **more: Any) -> Any:
        """As `open`; what writes into the world does it through the functions above."""
        reads = mode in ("r", "rb", "rt") or isinstance(file, int)
        if reads or not self._to.holds(self._path(file)):
            return self._real_open(file, mode, *rest, **more)
        flags = {"w": os.O_TRUNC, "a": os.O_APPEND, "x": os.O_EXCL, "r": 0}[mode.strip("bt+")]
        made = 0 if mode.startswith("r") else os.O_CREAT
        binary = io.BufferedRandom(_Raw(os.open(file, os.O_RDWR | made | flags, 0o666)))
        return binary if "b" in mode else io.TextIOWrapper(binary, more.get("encoding"))

    def _on_handle(
        self, name: str, handle: int, real: Callable[[], Any], half: Callable[[], Any] | None = None
    ) -> Any:
        path = self._paths.get(handle, "")
        if not self._to.holds(path) and path != self._to.world:
            return real()
        return self._to.point(name, path, real, half)

    def _change(self, name: str, path: str, real: Callable[[], Any], source: str = "") -> None:
        if not self._to.holds(path):
            real()
            return

        def change() -> None:
            real()
            if self._disk:
                self._disk.changed(name, path, source)

        self._to.point(name, path, change)

    def _path(self, path: Any, dir_fd: int | None = None) -> str:
        """Return the path that a call means; its last part may be a link."""
        if isinstance(path, int):
            return self._paths.get(path, "")
        base = self._paths.get(dir_fd, "/") if dir_fd is not None else os.getcwd()
        full = os.path.normpath(os.path.join(base, os.fsdecode(path)))
        return os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))


class _Raw(io.RawIOBase):
    """A file that is read and written with the functions of `os`."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def readable(self) -> bool:
        return True

    writable = seekable = readable

    def fileno(self) -> int:
        return self._handle

    def readinto(self, buffer: Any) -> int:
        data = os.read(self._handle, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def write(self, data: Any) -> int:
        return os.write(self._handle, data)

    def seek(self, offset: int, whence: int = 0) -> int:
        return os.lseek(self._handle, offset, whence)

    def truncate(self, size: int | None = None) -> int:
        os.ftruncate(self._handle, self.tell() if size is None else size)
        return self.tell() if size is None else size

    def close(self) -> None:
        if not self.closed:
            super().close()
            os.close(self._handle)


def install(injector: Injector) -> Callable[[], None]:
    """Put ours in the place of the real functions, for good; what is returned undoes it."""
    calls = Calls(injector)
    for name in _NAMES:
        setattr(os, name, getattr(calls, name))
    builtins.open = io.open = calls.open_file
    return calls.restore
