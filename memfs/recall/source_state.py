"""The state of a data source's index, and whether it is current. Opens no index."""

import json
from dataclasses import dataclass, field

from memfs import files
from memfs.core.errors import UNREADABLE
from memfs.ingest.source_files import FolderListing, SourceWalk
from memfs.store.data_sources import COMMITS, DataSource

_LARGEST = 64 << 20  # bytes


@dataclass(frozen=True)
class SourceState:
    """What the index of a source holds, as the last run saw it.

    `files` and `chunks` are in the index, `left` counts what is left out by reason, `named` are
    some of these files with the reason; `missing` are paths that do not exist. `at` is the time of
    the run, `stamp` changes with the files, `form` with what their chunks are made of; a run that
    did not come to its end has no stamp.
    """

    files: int = 0
    chunks: int = 0
    left: dict[str, int] = field(default_factory=dict)
    named: list[tuple[str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    at: str = ""
    stamp: str = ""
    form: str = ""

    @property
    def whole(self) -> bool:
        return bool(self.stamp)


def load_state(source: DataSource) -> SourceState | None:
    """Return the state of a source's index, None if it was never indexed. Walks nothing."""
    try:
        found = json.loads(files.read(f"{source.index}/state.json", _LARGEST) or "")
        named = [(str(name), str(reason)) for name, reason in found.pop("named")]
        return SourceState(named=named, **found)
    except (OSError, *UNREADABLE):
        return None


def is_current(source: DataSource, state: SourceState) -> bool:
    """Tell whether no file of a source has changed since its index was brought in line."""
    if source.kind == COMMITS:
        from memfs.ingest import commit_log  # with patterns, which files do without

        if not commit_log.is_current(source.top, source.paths[0]):
            return False
    return SourceWalk(source, load_listings(source)).stamp == state.stamp


def load_listings(source: DataSource) -> dict[str, FolderListing]:
    """Return the folders of a source as the last run listed them."""
    try:
        found = json.loads(files.read(f"{source.index}/listings.json", _LARGEST) or "")
        return {folder: FolderListing(*listing) for folder, listing in found.items()}
    except (OSError, *UNREADABLE):
        return {}
