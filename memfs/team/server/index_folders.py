"""Index folders: for each project the index that memfs keeps locally, read by the service.

A worker keeps them in step with the ledger (see `folder_worker`). A folder that has not followed
all that was taken away is not searched: the database finds the candidates, as where there is none.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from memfs import files
from memfs.core.errors import UNREADABLE, MemfsError
from memfs.search.engine import Engine
from memfs.team.server import candidate_search
from memfs.team.server.candidate_search import TeamQuestion
from memfs.team.server.ledger import Ledger, SearchedProject

STATE = "state.json"
_MOST_OPEN = 512  # engines: their files are mapped, and opening one takes as long as a search
_LARGEST_STATE = 4096  # bytes


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
