"""What the page shows: the stores of projects, and what its handlers share."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memfs.core.errors import NotFoundError
from memfs.core.facts import Fact
from memfs.core.records import Origin
from memfs.ops import archive
from memfs.ops.archive import PassageCache
from memfs.recall.index_session import IndexSession
from memfs.store import blocks
from memfs.store import facts as stored_facts
from memfs.store.blocks import Place
from memfs.store.file_cache import FileCache

if TYPE_CHECKING:
    from memfs.web.access import Access

HOST = "web"  # of the edits that are made in the page


@dataclass
class Project:
    """One project of the page: its folder, and the key that stands in addresses."""

    folder: str
    key: str = ""
    index: IndexSession | None = None
    passages: PassageCache = field(default_factory=archive.make_cache)
    facts: FileCache[dict[str, Fact]] = field(default_factory=stored_facts.make_cache)

    def __post_init__(self) -> None:
        digest = hashlib.sha256(self.folder.encode("utf-8", "replace")).hexdigest()[:6]
        self.key = f"{_make_slug(self.name)}-{digest}"

    @property
    def name(self) -> str:
        return os.path.basename(self.folder.rstrip("/")) or self.folder

    def find_place(self) -> Place:
        """Return the place as it is now. Raises `MemfsError`."""
        return blocks.find_place(self.folder)

    def open_index(self) -> IndexSession:
        """Return the index of the place, kept open between searches."""
        if self.index is None:
            self.index = IndexSession(self.find_place())
        return self.index


@dataclass
class Site:
    """The projects that the page shows, the first one first, and its access."""

    projects: list[Project]
    home: str
    access: Access
    notes: list[tuple[str, str]] = field(default_factory=list)

    def find_project(self, key: str) -> Project:
        """Return a project by its key. Raises `NotFoundError`."""
        for project in self.projects:
            if project.key == key:
                return project
        raise NotFoundError(f"the page shows no project {key}", "start memfs web in its folder")

    def say(self, text: str, kind: str = "done") -> None:
        """Keep a line for the next page that is shown: done, or refused."""
        self.notes.append((kind, text))

    def take_notes(self) -> list[tuple[str, str]]:
        """Return the lines for the page that is being shown, each once."""
        taken, self.notes = self.notes, []
        return taken


def make_origin(reason: str = "") -> Origin:
    """Return the author of an edit: whoever sits before the browser."""
    return Origin("user", HOST, "", reason)


def _make_slug(name: str) -> str:
    kept = "".join(char if char.isalnum() and char.isascii() else "-" for char in name.lower())
    return kept.strip("-")[:40] or "project"
