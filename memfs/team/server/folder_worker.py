"""Index folders beside the ledger, and the worker that keeps them in step with it.

It logs in as a role that may follow changes and nothing else. A folder that is removed is made
again from the ledger. It may be killed at any moment: what it does again changes nothing.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, cast
from uuid import UUID

import msgspec

from memfs import files
from memfs.core.errors import UNREADABLE, DamagedError, MemfsError
from memfs.files import atomic, logs, trees
from memfs.search.catalog import IndexSource
from memfs.search.engine import Engine
from memfs.search.indexer import open_writer
from memfs.team.server import candidate_search, ledger
from memfs.team.server.candidate_search import TeamQuestion, make_document
from memfs.team.server.ledger import Ledger, SearchedProject, StoredMessage

if TYPE_CHECKING:
    from memfs.team.server.database import TeamDatabase


STATE = "state.json"
_MOST_OPEN = 512  # engines: their files are mapped, and opening one takes as long as a search
_LARGEST_STATE = 4096  # bytes

_TOGETHER = 200  # changes that are read at a time
_PAUSE = 1.0  # seconds between two looks
_LONGEST_PAUSE = 30.0  # seconds, where the database is away
_LOOK_AROUND = 300  # looks between two checks which projects there are


@dataclass(frozen=True)
class LedgerChange:
    """Messages of a project that came, or that are gone."""

    project: int
    tx: str
    number: int
    gone: bool
    ids: list[UUID]
    ats: list[datetime]

    def is_after(self, state: FolderState) -> bool:
        """Tell whether a folder has not followed this change yet."""
        return (int(self.tx), self.number) > (int(state.tx), state.number)


class FolderWorker:
    """Follows the ledger into the folders below `top`."""

    def __init__(self, database: TeamDatabase, top: str) -> None:
        self._database = database
        self._top = os.path.abspath(top)

    def run(self, is_stopped: Callable[[], bool], report: Callable[[MemfsError], object]) -> None:
        """Follow until told to stop; `report` is called when the database is away."""
        pause, looks = _PAUSE, 0
        while not is_stopped():
            try:
                if looks % _LOOK_AROUND == 0:
                    self.complete()
                done = self.follow()
                looks, pause = looks + 1, 0.0 if done else _PAUSE
            except MemfsError as error:
                report(error)
                pause = min(_LONGEST_PAUSE, 2 * max(pause, _PAUSE))
            until = time.monotonic() + pause
            while time.monotonic() < until and not is_stopped():
                time.sleep(min(0.1, pause))

    def complete(self) -> None:
        """Fill folders that are missing, and remove those of projects that are gone."""
        known = {cast("int", number) for (number,) in self._database.call("follow_projects")}
        for project in known:
            if load_state(get_folder(self._top, project)) is None:
                state = FolderState()
                while changes := self._read(project, state):
                    state = self._apply(project, changes)
        for folder in self._list_folders():
            if int(os.path.basename(folder)) not in known:
                trees.remove(folder)

    def _list_folders(self) -> list[str]:
        """List the folders of projects."""
        return [
            f"{self._top}/{group}/{name}"
            for group in _list_numbered(self._top)
            for name in _list_numbered(f"{self._top}/{group}")
        ]

    def follow(self) -> int:
        """Bring the folders up to date with the next changes; return how many these are."""
        place = load_state(self._top) or FolderState()
        changes = self._read(0, place)
        by_project = attrgetter("project")
        for project, own in groupby(sorted(changes, key=by_project), by_project):
            state = load_state(get_folder(self._top, project))
            if new := [each for each in own if each.is_after(state or FolderState())]:
                self._apply(project, new)
        if changes:
            last = changes[-1]
            _save_state(self._top, replace(place, tx=last.tx, number=last.number))
        return len(changes)

    def _read(self, project: int, state: FolderState) -> list[LedgerChange]:
        rows = self._database.call("follow", project, state.tx, state.number, _TOGETHER)
        return [LedgerChange(*cast("tuple[int]", row)) for row in rows]  # type: ignore[call-arg]

    def _apply(self, project: int, changes: Sequence[LedgerChange]) -> FolderState:
        """Apply changes of one project, in order, to its folder; return the state after them."""
        folder = get_folder(self._top, project)
        state = load_state(folder) or FolderState()
        files.make_folder(f"{folder}/sessions", private=True)
        changed: set[str] = set()
        for change in changes:
            if change.gone:
                changed |= _remove(folder, {each.hex for each in change.ids})
            else:
                rows = self._database.call("follow_messages", project, change.ids, change.ats)
                changed |= _add(folder, ledger.read_rows(rows))
        last = changes[-1]
        removals = state.removals + sum(change.gone for change in changes)
        state = FolderState(last.tx, last.number, removals)
        _index(folder, changed)
        _save_state(folder, state)
        return state


def _list_numbered(folder: str) -> list[str]:
    found = files.entries(folder) if files.is_folder(folder) else []
    return [name for name, is_folder in found if is_folder and name.isdecimal()]


def _add(folder: str, messages: Sequence[StoredMessage]) -> set[str]:
    """Add messages to the files of their sessions, and return the paths of these."""
    paths = set()
    for session, group in groupby(messages, attrgetter("session")):
        path = f"{folder}/sessions/{session}.jsonl"
        paths.add(path)
        before = {each.id: each for each in _read_session(path, 0)}
        new = [each for each in group if each.id not in before]
        after = sorted([*before.values(), *new], key=attrgetter("at", "ordinal", "id"))
        if new and after[: len(before)] == [*before.values()]:
            logs.append(path, _encode(after[len(before) :]), durable=False)
        elif new:
            atomic.write(path, _encode(after).decode(), private=True, durable=False)
    return paths


def _remove(folder: str, gone: set[str]) -> set[str]:
    """Remove messages from the files of their sessions, and return the paths of these."""
    paths = set()
    for name in files.names(f"{folder}/sessions"):
        path = f"{folder}/sessions/{name}"
        before = list(_read_session(path, 0))
        kept = [each for each in before if each.id.hex not in gone]
        if len(kept) == len(before):
            continue
        paths.add(path)
        if kept:
            atomic.write(path, _encode(kept).decode(), private=True, durable=False)
        else:
            files.remove(path)
    return paths


def _index(folder: str, paths: set[str]) -> None:
    """Bring the index of a folder in line with files of sessions; a damaged one is made anew."""
    try:
        _update(folder, paths)
    except DamagedError:
        _update(folder, paths)


def _update(folder: str, paths: set[str]) -> None:
    sessions = f"{folder}/sessions"
    with open_writer(f"{folder}/index") as writer:
        partly = writer.whole and all(map(files.is_file, paths))
        listed = paths if partly else {f"{sessions}/{name}" for name in files.names(sessions)}
        writer.update(
            [IndexSource(path, "message", grows=True) for path in sorted(listed)],
            lambda source, start: map(make_document, _read_session(source.path, start)),
            partly=partly,
        )
        writer.embed()


def _read_session(path: str, start: int) -> Iterator[StoredMessage]:
    """Read the messages of a session's file from a byte on; what is damaged is left out."""
    if not files.is_file(path):
        return
    with logs.open_stream(path) as handle:
        handle.seek(start)
        for line in handle:
            with suppress(ValueError, msgspec.MsgspecError):
                yield msgspec.json.decode(line, type=StoredMessage)


def _encode(messages: Sequence[StoredMessage]) -> bytes:
    return b"".join(msgspec.json.encode(each) + b"\n" for each in messages)


def _save_state(folder: str, state: FolderState) -> None:
    files.make_folder(folder, private=True)
    atomic.write(f"{folder}/{STATE}", json.dumps(asdict(state)), private=True, durable=False)


@dataclass(frozen=True)
class FolderState:
    """How far a folder has followed the ledger: its last change, and the removals among all."""

    tx: str = "0"
    number: int = 0
    removals: int = 0


def get_folder(top: str, project: int) -> str:
    """Return the folder of a project: thousands of them are spread over some."""
    return f"{top}/{project % 1000:03}/{project}"


def load_state(folder: str) -> FolderState | None:
    """Return the state of a folder, None for one that holds nothing yet."""
    try:
        return FolderState(**json.loads(files.read(f"{folder}/{STATE}", _LARGEST_STATE) or ""))
    except (OSError, *UNREADABLE):
        return None


class IndexFolders:
    """The engines of folders, which stay open while they are used. Thread-safe."""

    def __init__(self, top: str) -> None:
        self._top = os.path.abspath(top)
        self._lock = threading.Lock()
        self._open: dict[int, tuple[FolderState, Engine]] = {}  # the last used are the last

    @contextmanager
    def open_engines(
        self, ledger: Ledger, projects: Mapping[int, SearchedProject], question: TeamQuestion
    ) -> Iterator[list[Engine]]:
        """Yield the engines of the projects' folders, and one over candidates of the others."""
        found, rest = [], []
        for project, searched in projects.items():
            engine = self._find(project, searched.removals)
            if engine is None:
                rest.append(project)
            else:
                found.append(engine)
        with ExitStack() as stack:
            if rest:
                found += stack.enter_context(candidate_search.open_engines(ledger, rest, question))
            yield found

    def _find(self, project: int, removals: int) -> Engine | None:
        folder = get_folder(self._top, project)
        state = load_state(folder)
        if state is None or state.removals != removals:
            return None
        with self._lock:
            known = self._open.pop(project, None)
            if known is None or known[0] != state:
                try:
                    index = f"{folder}/index"
                    engine = known[1].reopen(index) if known else Engine.open(index)
                except (MemfsError, OSError):
                    return None
                known = state, engine
            self._open[project] = known
            while len(self._open) > _MOST_OPEN:
                del self._open[next(iter(self._open))]
            return known[1]
