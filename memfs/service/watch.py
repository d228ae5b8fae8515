"""Watches of folders, present or missing, with changes reported after a moment without any."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from memfs import files
from memfs.files import signatures
from memfs.service import job_queue
from memfs.store import data_sources, worktrees
from memfs.store.data_sources import DataSource

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver, ObservedWatch

    from memfs.recall.open_store import OpenStore

_RULE_FILES = (".gitignore", ".memfsignore")  # hidden, and they decide on other files

_QUIET = 0.1  # seconds without a change, after which changes are reported
_LONGEST = 0.5  # seconds that a change waits for that at most
_POLL = 2.0  # seconds between two polls
_TEMPORARY = (".tmp", ".swp", ".swx", "~", "4913")  # temporary files of ours and of editors


class _Watched(NamedTuple):
    """A watched folder; `sign` differs if another folder has its name later."""

    observer: BaseObserver
    watch: ObservedWatch
    sign: tuple[int, int]


class _Handler:
    """What an observer hands its events to: a handler of watchdog, which is imported late."""

    def __init__(self, note: Callable[[str, str, bool], object], folder: str) -> None:
        self._note, self._folder = note, folder

    def dispatch(self, event: FileSystemEvent) -> None:
        for path in (event.src_path, event.dest_path):
            if path:
                self._note(self._folder, os.fsdecode(path), event.is_directory)


class FolderWatch:
    """Watches folders, each once. Calls `report` with (key, changed paths) in a thread.

    For a new key it is called without paths as soon as its folders are watched.
    """

    def __init__(self, report: Callable[[Hashable, set[str]], object]) -> None:
        self._report = report
        self._observer: BaseObserver | None = None
        self._polling: BaseObserver | None = None
        self._wanted: dict[Hashable, Callable[[], Iterable[str]]] = {}
        self._folders: dict[Hashable, list[str]] = {}  # of the keys whose folders were listed
        self._begun: set[Hashable] = set()  # keys that were reported once
        self._watched: dict[tuple[str, bool], _Watched] = {}  # by folder, and whether all below it
        self._lost: set[str] = set()  # watched folders that were removed, even if they exist again
        self._missed: set[str] = set()  # wanted folders that did not exist at the last check
        self._changed: set[tuple[str, str]] = set()  # (folder, path)
        self._check = False  # whether folders must be checked
        self._first = self._last = 0.0
        self._news = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    def add(self, key: Hashable, folders: Callable[[], Iterable[str]]) -> None:
        """Watch folders, which need not exist; `folders` is called in the watching thread."""
        with self._news:
            self._wanted[key] = folders
        self.check_folders()

    def remove(self, key: Hashable) -> None:
        with self._news:
            self._wanted.pop(key, None)
        self.check_folders()

    def check_folders(self) -> None:
        with self._news:
            self._check = True
            self._news.notify()

    def stop(self) -> None:
        with self._news:
            self._ended = True
            self._news.notify()
        self._thread.join(1)
        for observer in (self._observer, self._polling):
            if observer is not None:
                observer.stop()

    @property
    def watched(self) -> int:
        return len(self._folders)

    @property
    def polling(self) -> bool:
        return self._polling is not None

    def note(self, folder: str, path: str, of_folder: bool) -> None:
        if path.endswith(_TEMPORARY):
            return
        with self._news:
            now = time.monotonic()
            if not self._changed:
                self._first = now
            self._last = now
            self._check |= of_folder
            if of_folder and path == folder:
                self._lost.add(folder)  # another one may even have its inode
            self._changed.add((folder, path))
            self._news.notify()

    def _run(self) -> None:
        while not self._ended:
            try:
                self._step()
            except Exception:  # noqa: BLE001 - later changes must still be reported
                job_queue.failure()
                time.sleep(_QUIET)

    def _step(self) -> None:
        with self._news:
            while not (self._changed or self._check or self._ended):
                self._news.wait()
            if self._ended:
                return
            check, self._check = self._check, False
            wanted = {key: self._folders[key] for key in self._wanted if key in self._folders}
            left = min(self._last + _QUIET, self._first + _LONGEST) - time.monotonic()
            changed: set[tuple[str, str]] = set()
            if self._changed and not check:
                if left > 0:
                    self._news.wait(left)
                    return
                changed, self._changed = self._changed, changed
        if check:
            wanted = self._list_folders()
            try:
                self._arrange({folder for each in wanted.values() for folder in each})
            finally:
                new = [key for key in wanted if key not in self._begun]
                self._begun = set(wanted)
                for key in new:
                    self._report(key, set())
            return
        for key, folders in wanted.items():
            paths = {path for folder, path in changed if folder in folders}
            if paths:
                self._report(key, paths)

    def _list_folders(self) -> dict[Hashable, list[str]]:
        with self._news:
            wanted = dict(self._wanted)
        known = self._folders
        self._folders = {
            key: known[key] if key in known else [os.path.realpath(path) for path in folders()]
            for key, folders in wanted.items()
        }
        return self._folders

    def _arrange(self, wanted: set[str]) -> None:
        with self._news:
            lost, self._lost = self._lost, set()
        missing = {folder for folder in wanted if not os.path.isdir(folder)}
        needed = {(folder, True) for folder in wanted - missing}
        needed |= {(_find_existing_parent(folder), False) for folder in missing}
        came = self._missed & wanted - missing
        for watch, watched in list(self._watched.items()):
            if watch not in needed:
                self._close(watch)
            elif watch[0] in lost or _get_sign(watch[0]) != watched.sign:  # replaced by another one
                self._close(watch)
                came |= {watch[0]} & wanted
        for watch in sorted(needed - set(self._watched)):
            self._open(*watch)
        for folder in came:
            for inside, _, names in os.walk(folder):  # files that were made before it was watched
                for name in names:
                    self.note(folder, f"{inside}/{name}", False)
        self._missed = missing
        if any(map(os.path.isdir, missing)):
            self.check_folders()  # one was made meanwhile

    def _open(self, folder: str, below: bool) -> None:
        sign = _get_sign(folder)
        if sign is None:
            return
        try:
            self._watched[folder, below] = _Watched(*self._observe(folder, below), sign)
        except FileNotFoundError:  # it was just removed
            self.check_folders()

    def _observe(self, folder: str, below: bool) -> tuple[BaseObserver, ObservedWatch]:
        """Watch all files `below` a folder, or only its own subfolders."""
        from watchdog import observers  # once the service listens
        from watchdog.observers import polling  # likewise

        handler = _Handler(self.note, folder)
        try:
            if self._observer is None:
                self._observer = observers.Observer()
                self._observer.start()
            watch = _schedule(self._observer, handler, folder, below)
            if below:
                # Folders below it may be left out silently: is one more watch possible?
                try:
                    probe = _schedule(self._observer, handler, os.sep, False, of_files=True)
                    self._observer.unschedule(probe)
                except OSError:
                    self._observer.unschedule(watch)
                    raise
        except FileNotFoundError:
            raise
        except OSError:  # no more watches, or instances, for this user
            if self._polling is None:
                self._polling = polling.PollingObserver(timeout=_POLL)
                self._polling.start()
            return self._polling, _schedule(self._polling, handler, folder, below)
        return self._observer, watch

    def _close(self, key: tuple[str, bool]) -> None:
        observer, watch, _ = self._watched.pop(key)
        with suppress(KeyError, OSError):  # it ended by itself when the folder was removed
            observer.unschedule(watch)


def _schedule(
    observer: BaseObserver, handler: _Handler, folder: str, below: bool, *, of_files: bool = False
) -> ObservedWatch:
    """Watch all `below` a folder, or its own subfolders, and with `of_files` its own files."""
    from watchdog import events  # likewise

    kinds = [events.DirCreatedEvent, events.DirMovedEvent, events.DirDeletedEvent]
    if below or of_files:
        kinds += [events.FileCreatedEvent, events.FileModifiedEvent]
        kinds += [events.FileMovedEvent, events.FileDeletedEvent]
    return observer.schedule(handler, folder, recursive=below, event_filter=kinds)  # type: ignore[arg-type]


def _find_existing_parent(folder: str) -> str:
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def _get_sign(folder: str) -> tuple[int, int] | None:
    try:
        status = os.stat(folder)
    except OSError:
        return None
    return status.st_dev, status.st_ino


class WatchedSource(NamedTuple):
    """The key by which a source is watched: its index, and its folders."""

    path: str
    folders: tuple[str, ...]


class SourceWatch:
    """Watches the sources of loaded stores. Calls `queue` with a store whose sources changed."""

    def __init__(self, watch: FolderWatch, queue: Callable[[OpenStore], object]) -> None:
        self._watch, self._queue = watch, queue
        self._keys: dict[OpenStore, set[WatchedSource]] = {}
        self._files: dict[str, object] = {}  # signatures of single files, by path
        self._lock = threading.Lock()

    def update(self, store: OpenStore) -> None:
        """Watch the sources a store has now; queue what changed unwatched, or is no source now."""
        sources = data_sources.list_searched(store.place)
        folders = {source: _list_folders(source) for source in sources}
        self._set_keys(store, {WatchedSource(s.index, each) for s, each in folders.items() if each})
        single = {path for s in sources for path in _list_files(s) if path not in folders[s]}
        signed = {path: signatures.sign_file(path) for path in single}
        changed = any(self._files.get(path) != sign for path, sign in signed.items())
        self._files |= signed
        is_whole = all(files.is_folder(source.index) for source in sources)
        if changed or not is_whole or data_sources.has_unused_history(store.place):
            self._queue(store)

    def remove(self, store: OpenStore) -> None:
        """Stop watching what only this store has."""
        self._set_keys(store, None)

    def queue_changes(self, key: WatchedSource, paths: set[str]) -> None:
        if paths and all(_is_hidden(path, key.folders) for path in paths):
            return
        with self._lock:
            store = next((store for store, keys in self._keys.items() if key in keys), None)
        if store is not None:
            self._queue(store)

    def _set_keys(self, store: OpenStore, keys: set[WatchedSource] | None) -> None:
        with self._lock:
            before = set().union(*self._keys.values())
            self._keys.pop(store, None)
            if keys is not None:
                self._keys[store] = keys
            after = set().union(*self._keys.values())
        for key in after - before:
            self._watch.add(key, partial(tuple, key.folders))
        for key in before - after:
            self._watch.remove(key)


def _list_folders(source: DataSource) -> tuple[str, ...]:
    if source.kind == data_sources.COMMITS:
        return worktrees.list_reference_folders(source.top)
    return tuple(path for path in source.paths if os.path.isdir(path) or not os.path.exists(path))


def _list_files(source: DataSource) -> tuple[str, ...]:
    """Return the paths of a source that may be files; of commits, the one that names the branch."""
    if source.kind == data_sources.COMMITS:
        folder = worktrees.git_dir(source.top)
        return (f"{folder}/HEAD",) if folder else ()
    return source.paths


def _is_hidden(path: str, folders: tuple[str, ...]) -> bool:
    if os.path.basename(path) in _RULE_FILES:
        return False
    inside = next((path[len(top) :] for top in folders if files.is_below(path, top)), "")
    return any(part.startswith(".") for part in inside.split("/"))
