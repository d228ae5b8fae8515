"""Folders as the system watches them; where it has no more room, they are looked at regularly."""

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
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.polling import PollingObserver

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver, ObservedWatch

_POLL = 2.0  # seconds between two looks where nothing can be watched
_FOLDERS: list[type[FileSystemEvent]] = [DirCreatedEvent, DirMovedEvent, DirDeletedEvent]
_EVENTS = [*_FOLDERS, FileCreatedEvent, FileModifiedEvent, FileMovedEvent, FileDeletedEvent]


class ChangeCallback(Protocol):
    """Called with the folder that is watched, the path that changed, and whether it is one."""

    def __call__(self, folder: str, path: str, of_folder: bool) -> None: ...


class ObservedFolder(NamedTuple):
    """A folder that is watched."""

    observer: BaseObserver
    watch: ObservedWatch

    def end(self) -> None:
        """Watch it no more."""
        try:
            self.observer.unschedule(self.watch)
        except (KeyError, OSError):  # it ended by itself when the folder went
            return


class Observers:
    """Watches folders; `note` is called in threads of their own. For one thread that asks."""

    def __init__(self, note: ChangeCallback) -> None:
        self._note = note
        self._observer: BaseObserver | None = None
        self._polling: BaseObserver | None = None

    @property
    def polling(self) -> bool:
        """Tell whether some folders are only looked at every now and then."""
        return self._polling is not None

    def observe(self, folder: str, *, below: bool) -> ObservedFolder:
        """Watch a folder: all `below` it, or only which folders it has.

        Raises `FileNotFoundError` if it has just gone.
        """
        handler = _Handler(self._note, folder)
        try:
            return self._watched(handler, folder, below)
        except FileNotFoundError:
            raise
        except OSError:  # no more watches, or instances, for this user
            if self._polling is None:
                self._polling = PollingObserver(timeout=_POLL)
                self._polling.start()
            wanted = _EVENTS if below else _FOLDERS
            watch = self._polling.schedule(handler, folder, recursive=below, event_filter=wanted)
            return ObservedFolder(self._polling, watch)

    def stop(self) -> None:
        for observer in (self._observer, self._polling):
            if observer is not None:
                observer.stop()

    def _watched(self, handler: _Handler, folder: str, below: bool) -> ObservedFolder:
        """Have the system watch it. Raises `OSError` if there is no room for all that is below."""
        if self._observer is None:
            self._observer = Observer()
            self._observer.start()
        observer = self._observer
        wanted = _EVENTS if below else _FOLDERS
        watch = observer.schedule(handler, folder, recursive=below, event_filter=wanted)
        if below:
            # What is below it may be left out silently: is there room for one more?
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
