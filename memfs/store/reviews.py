"""Reviews of sessions that a model made: one file for each, to show what they saved."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

from memfs import files
from memfs.core import file_redaction
from memfs.core.errors import UNREADABLE
from memfs.files import atomic
from memfs.store import local_folder, store_paths
from memfs.store.store_paths import Store

FOLDER = "reviews"


@dataclass(frozen=True)
class SessionReview:
    """A review that was made: by which model, of how many messages, and what it saved.

    `saved` are (label, operation, version); `archived` counts passages. `problem` says why it was
    broken off, "" if it was not; `told`: the person was told of it.
    """

    session: str
    host: str
    at: str
    model: str
    messages: int
    saved: tuple[tuple[str, str, int], ...] = ()
    archived: int = 0
    text: str = ""
    problem: str = ""
    told: bool = False

    def render(self) -> str:
        """Describe the review in one line."""
        what = [f"{label} ({op}, version {version})" for label, op, version in self.saved]
        if self.archived:
            what.append(f"{self.archived} passages" if self.archived > 1 else "1 passage")
        done = ", ".join(what) or "nothing"
        line = f"the review of session {self.session} by {self.model} saved {done}"
        return f"{line}, then failed: {self.problem}" if self.problem else line


def write_review(store: Store, found: SessionReview) -> None:
    """Keep a review on file, without secrets that the model repeated."""
    folder = f"{store.local}/{FOLDER}"
    local_folder.make(store)
    files.make_folder(folder, private=True)
    path = f"{folder}/{store_paths.file_name(found.session)}.json"
    record = file_redaction.redact_record(asdict(found))
    atomic.write(path, json.dumps(record, indent=1), private=True)


def list_reviews(store: Store) -> list[SessionReview]:
    """List the reviews on file, the newest first."""
    folder = f"{store.local}/{FOLDER}"
    names = [name for name in files.names(folder) if name.endswith(".json")]
    found = filter(None, (_read(f"{folder}/{name}") for name in names))
    return sorted(found, key=lambda each: (each.at, each.session), reverse=True)


def take_news(store: Store) -> list[str]:
    """Return a line for each review that was not announced yet, and mark it as announced."""
    lines = []
    for each in list_reviews(store):
        if not each.told:
            lines.append(each.render())
            write_review(store, replace(each, told=True))
    return lines


def _read(path: str) -> SessionReview | None:
    try:
        record = json.loads(files.read(path) or "")
        saved = tuple((str(a), str(b), int(c)) for a, b, c in record.pop("saved"))
        return SessionReview(**record, saved=saved)
    except UNREADABLE:
        return None
