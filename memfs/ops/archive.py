"""Archive a passage for the long term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.core import body_edits
from memfs.core import label as labels
from memfs.core.errors import MemfsError, RejectedError, UsageError
from memfs.core.privacy import public
from memfs.store import archive, autocommit

if TYPE_CHECKING:
    from memfs.core.records import Origin
    from memfs.store.blocks import Place


@dataclass(frozen=True)
class ArchivedPassage:
    """Where a passage is; `duplicate`: it existed already, and nothing was written.

    `note` says why a commit that is configured failed.
    """

    id: str
    path: str
    duplicate: bool
    note: str = ""


def run(
    place: Place,
    text: str,
    *,
    importance: int,
    tags: tuple[str, ...],
    origin: Origin,
    user: bool = False,
) -> ArchivedPassage:
    """Write a passage into the archive of the project (or the user), unless it is a duplicate."""
    text = public(text)
    error = refusal(text, importance, tags, origin.reason)
    if error:
        raise error
    store = place.store(labels.USER) if user else place.home
    clean = tuple(dict.fromkeys(" ".join(tag.lower().split()) for tag in tags if tag.strip()))
    merged = archive.merge_passages(text)
    for path in archive.sources(store):
        known = archive.read(path)
        if known and archive.merge_passages(known.text) == merged:
            return ArchivedPassage(known.id, path, duplicate=True)
    passage, path = archive.write_passage(store, text, importance=importance, tags=clean)
    return ArchivedPassage(
        passage.id, path, False, autocommit.commit_passage(place, store, path, origin)
    )


def refusal(
    text: str, importance: int, tags: tuple[str, ...] = (), reason: str = ""
) -> MemfsError | None:
    """Return the error that keeps a passage from being archived, None if it can be."""
    text = public(text)
    if not text.strip():
        return UsageError("cannot archive an empty text")
    if importance not in range(1, 11):
        return UsageError(f"importance is {importance!r}, expected 1 to 10")
    odd = (
        body_edits.check_text("archive", "the passage", text)
        or body_edits.check_secret("archive", "the passage", text)
        or body_edits.check_metadata("the tags", "\n".join(tags))
        or body_edits.check_metadata("the reason", reason)  # git would have it
    )
    if odd:
        return RejectedError(odd.message, odd.hint)
    if len(text) > archive.LONGEST:
        return MemfsError(
            f"cannot archive {len(text):,} characters, the limit is {archive.LONGEST:,}",
            "archive what matters of it, in several passages",
        )
    return None
