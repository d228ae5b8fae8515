"""What changes on the disk, for whoever wants to know: told once it has been quiet for a moment.

Folders need not be there yet, and may go and come back: then what is above them is watched. Where
the system cannot watch any more, they are looked at every now and then.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from memfs.service import log

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from memfs.service.observers import ObservedFolder, Observers

_QUIET = 0.1  # seconds without a change, after which those before are told
_LONGEST = 0.5  # seconds that a change waits for that
_TEMPORARY = (".tmp", ".swp", ".swx", "~", "4913")  # of ours and of editors


class _Watched(NamedTuple):
    """A folder that is watched; `sign` tells it from another one that has its name later."""

    observed: ObservedFolder
    sign: tuple[int, int]


class FolderWatch:
    """Watches folders, each once. `tell` is called with (key, changed paths) in a thread.

    For a new key it is called without paths as soon as its folders are watched.
    """

    def __init__(self, tell: Callable[[Hashable, set[str]], object]) -> None:
        self._tell = tell
        self._observers: Observers | None = None
        self._wanted: dict[Hashable, Callable[[], Iterable[str]]] = {}
        self._folders: dict[Hashable, list[str]] = {}  # of them, those that were listed
        self._begun: set[Hashable] = set()  # of them, those that were told so
        self._watched: dict[tuple[str, bool], _Watched] = {}  # by folder, and whether all below it
        self._lost: set[str] = set()  # of them, those that went, whatever is there now
        self._missed: set[str] = set()  # folders that were wanted when they were not there
        self._changed: set[tuple[str, str]] = set()  # (folder, path)
        self._again = False  # whether folders may have come or gone
        self._first = self._last = 0.0
        self._news = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    def add(self, key: Hashable, folders: Callable[[], Iterable[str]]) -> None:
        """Watch folders, and what is below them, for a key; they need not be there.

        They are asked for in the thread that watches.
        """
        with self._news:
            self._wanted[key] = folders
        self.look()

    def remove(self, key: Hashable) -> None:
        """Watch nothing for a key any more."""
        with self._news:
            self._wanted.pop(key, None)
        self.look()

    def look(self) -> None:
        """Look soon whether folders came or went."""
        with self._news:
            self._again = True
            self._news.notify()

    def stop(self) -> None:
        with self._news:
            self._ended = True
            self._news.notify()
        self._thread.join(1)
        if self._observers is not None:
            self._observers.stop()

    @property
    def polling(self) -> bool:
        """Tell whether some folders are only looked at every now and then."""
        return self._observers is not None and self._observers.polling

    def note(self, folder: str, path: str, of_folder: bool) -> None:
        """Note a change of a path in a watched folder; `of_folder`: the path is one itself."""
        if path.endswith(_TEMPORARY):
            return
        with self._news:
            now = time.monotonic()
            if not self._changed:
                self._first = now
            self._last = now
            self._again |= of_folder
            if of_folder and path == folder:
                self._lost.add(folder)  # another one may even have its inode
            self._changed.add((folder, path))
            self._news.notify()

    def _run(self) -> None:
        while not self._ended:
            try:
                self._step()
            except Exception:  # noqa: BLE001 - what changes next is told
                log.failure()
                time.sleep(_QUIET)

    def _step(self) -> None:
        """Wait for news, and do what they ask for."""
        with self._news:
            while not (self._changed or self._again or self._ended):
                self._news.wait()
            if self._ended:
                return
            again, self._again = self._again, False
            wanted = {key: self._folders[key] for key in self._wanted if key in self._folders}
            left = min(self._last + _QUIET, self._first + _LONGEST) - time.monotonic()
            changed: set[tuple[str, str]] = set()
            if self._changed and not again:
                if left > 0:
                    self._news.wait(left)
                    return
                changed, self._changed = self._changed, changed
        if again:
            wanted = self._listed()
            try:
                self._arrange({folder for each in wanted.values() for folder in each})
            finally:
                new = [key for key in wanted if key not in self._begun]
                self._begun = set(wanted)
                for key in new:
                    self._tell(key, set())
            return
        for key, folders in wanted.items():
            paths = {path for folder, path in changed if folder in folders}
            if paths:
                self._tell(key, paths)

    def _listed(self) -> dict[Hashable, list[str]]:
        """Return the folders of each key."""
        with self._news:
            wanted = dict(self._wanted)
        known = self._folders
        self._folders = {
            key: known[key] if key in known else [os.path.realpath(path) for path in folders()]
            for key, folders in wanted.items()
        }
        return self._folders

    def _arrange(self, wanted: set[str]) -> None:
        """Watch what is wanted and there, and of what is not, the folder above."""
        with self._news:
            lost, self._lost = self._lost, set()
        missing = {folder for folder in wanted if not os.path.isdir(folder)}
        needed = {(folder, True) for folder in wanted - missing}
        needed |= {(_above(folder), False) for folder in missing}
        came = self._missed & wanted - missing
        for way, watched in list(self._watched.items()):
            if way not in needed:
                self._close(way)
            elif way[0] in lost or _sign(way[0]) != watched.sign:  # it went, and another one came
                self._close(way)
                came |= {way[0]} & wanted
        for way in sorted(needed - set(self._watched)):
            self._open(*way)
        for folder in came:
            for path in _files(folder):  # what came before it was watched
                self.note(folder, path, of_folder=False)
        self._missed = missing
        if any(map(os.path.isdir, missing)):
            self.look()  # it came meanwhile

    def _open(self, folder: str, below: bool) -> None:
        sign = _sign(folder)
        if sign is None:
            return
        if self._observers is None:
            from memfs.service.observers import Observers  # with watchdog

            self._observers = Observers(self.note)
        try:
            observed = self._observers.observe(folder, below=below)
            self._watched[folder, below] = _Watched(observed, sign)
        except FileNotFoundError:  # it has just gone
            self.look()

    def _close(self, way: tuple[str, bool]) -> None:
        self._watched.pop(way).observed.end()


def _above(folder: str) -> str:
    """Return the nearest folder above one that is not there."""
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def _sign(folder: str) -> tuple[int, int] | None:
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _files(folder: str) -> Iterable[str]:
    for inside, _, names in os.walk(folder):
        for name in names:
            yield f"{inside}/{name}"
