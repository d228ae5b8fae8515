"""Watches of folders by the operating system; by polling where it has no more watches."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, Protocol

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.polling import PollingObserver

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver, ObservedWatch

_POLL = 2.0  # seconds between two polls
_FOLDERS: list[type[FileSystemEvent]] = [DirCreatedEvent, DirMovedEvent, DirDeletedEvent]
_EVENTS = [*_FOLDERS, FileCreatedEvent, FileModifiedEvent, FileMovedEvent, FileDeletedEvent]


class ChangeCallback(Protocol):
    """Called with the watched folder, the changed path, and whether that is a folder."""

    def __call__(self, folder: str, path: str, of_folder: bool) -> None: ...


class ObservedFolder(NamedTuple):
    """A folder that is watched."""

    observer: BaseObserver
    watch: ObservedWatch

    def end(self) -> None:
        """Stop watching it."""
        try:
            self.observer.unschedule(self.watch)
        except (KeyError, OSError):  # it ended by itself when the folder was removed
            return


class Observers:
    """Watches folders, and calls `note` in other threads. Not thread-safe itself."""

    def __init__(self, note: ChangeCallback) -> None:
        self._note = note
        self._observer: BaseObserver | None = None
        self._polling: BaseObserver | None = None

    @property
    def polling(self) -> bool:
        """Return whether some folders are polled."""
        return self._polling is not None

    def observe(self, folder: str, *, below: bool) -> ObservedFolder:
        """Watch a folder: all files `below` it, or only its own subfolders.

        Raises `FileNotFoundError` if it was just removed.
        """
        handler = _Handler(self._note, folder)
        try:
            return self._schedule(handler, folder, below)
        except FileNotFoundError:
            raise
        except OSError:  # no more watches, or instances, for this user
            if self._polling is None:
                self._polling = PollingObserver(timeout=_POLL)
                self._polling.start()
            events = _EVENTS if below else _FOLDERS
            watch = self._polling.schedule(handler, folder, recursive=below, event_filter=events)
            return ObservedFolder(self._polling, watch)

    def stop(self) -> None:
        for observer in (self._observer, self._polling):
            if observer is not None:
                observer.stop()

    def _schedule(self, handler: _Handler, folder: str, below: bool) -> ObservedFolder:
        """Watch it by the system. Raises `OSError` if there are too few watches for all below."""
        if self._observer is None:
            self._observer = Observer()
            self._observer.start()
        observer = self._observer
        events = _EVENTS if below else _FOLDERS
        watch = observer.schedule(handler, folder, recursive=below, event_filter=events)
        if below:
            # Folders below it may be left out silently: is one more watch possible?
            try:
                observer.unschedule(observer.schedule(handler, os.sep, event_filter=_EVENTS))
            except OSError:
                observer.unschedule(watch)
                raise
        return ObservedFolder(observer, watch)


class _Handler(FileSystemEventHandler):
    def __init__(self, note: ChangeCallback, folder: str) -> None:
        self._note, self._folder = note, folder

    def on_any_event(self, event: FileSystemEvent) -> None:
        for path in (event.src_path, event.dest_path):
            if path:
                self._note(self._folder, os.fsdecode(path), of_folder=event.is_directory)
