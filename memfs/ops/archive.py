"""Archive passages for the long term: keep, list, change and remove them."""

import os
from dataclasses import dataclass
from typing import TypeAlias

from memfs import files
from memfs.core import body_edits
from memfs.core import label as labels
from memfs.core.errors import MemfsError, NotFoundError, RejectedError, UsageError
from memfs.core.privacy import public
from memfs.core.records import Origin, Passage
from memfs.store import archive, commit_writer, quarantine
from memfs.store.blocks import Place
from memfs.store.file_cache import FileCache
from memfs.store.store_paths import Store

PassageCache: TypeAlias = FileCache[Passage | None]


@dataclass(frozen=True)
class ArchivedPassage:
    """Where a passage is; `duplicate`: it existed already, and nothing was written.

    `note` says why a commit that is configured failed.
    """

    id: str
    path: str
    duplicate: bool
    note: str = ""


@dataclass(frozen=True)
class StoredPassage:
    """A passage in the archive of a tier, and its file."""

    tier: str
    path: str
    passage: Passage


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
    known = _find_duplicate(store, text)
    if known:
        return ArchivedPassage(known.passage.id, known.path, duplicate=True)
    passage, path = archive.write_passage(
        store, text, importance=importance, tags=_clean_tags(tags)
    )
    return ArchivedPassage(
        passage.id, path, False, commit_writer.commit_passage(place, store, path, origin)
    )


def make_cache() -> PassageCache:
    """Return a cache of passages, for a process that lists them often."""
    return FileCache(archive.read)


def list_passages(
    place: Place,
    tags: tuple[str, ...] = (),
    *,
    text: str = "",
    source: str = "",
    tier: str = "",
    cache: PassageCache | None = None,
) -> list[StoredPassage]:
    """Return the passages of project and user that match all conditions, the newest first.

    A passage has all of `tags`, all words of `text` in its text, and `source` in its source;
    letter case does not count.
    """
    wanted, words, source = set(_clean_tags(tags)), text.casefold().split(), source.casefold()
    found = [
        each
        for name, store in place.list_lasting_tiers()
        if tier in ("", name)
        for each in _read_all(name, store, cache)
        if wanted <= set(each.passage.tags)
        and source in each.passage.source.casefold()
        and all(word in each.passage.text.casefold() for word in words)
    ]
    return sorted(found, key=lambda each: (each.passage.created_at, each.passage.id), reverse=True)


def find_passage(place: Place, ident: str) -> StoredPassage:
    """Return the passage whose id begins or ends with `ident`. Raises `NotFoundError`."""
    named = [
        (os.path.basename(path).removesuffix(archive.SUFFIX), tier, path)
        for tier, store in place.list_lasting_tiers()
        for path in archive.sources(store)
    ]
    exact = [each for each in named if each[0] == ident]
    part = [
        each for each in named if ident and (each[0].startswith(ident) or each[0].endswith(ident))
    ]
    found = [
        StoredPassage(tier, path, passage)
        for _, tier, path in exact or part  # the ids of one hour begin alike
        if (passage := archive.read(path))
    ]
    if len(found) != 1:
        what = "several passages match" if found else "there is no passage with"
        raise NotFoundError(f"{what} the id '{ident}'", "list the ids: memfs archive list")
    return found[0]


def edit(
    place: Place,
    ident: str,
    origin: Origin,
    *,
    text: str | None = None,
    importance: int | None = None,
    tags: tuple[str, ...] | None = None,
) -> ArchivedPassage:
    """Change a passage's text, importance or tags; None keeps what is there. It keeps its id.

    Raises `NotFoundError`; the error of `refusal`; `RejectedError` if another says the same;
    `StoreError` for one that is held back.
    """
    found = find_passage(place, ident)
    before = found.passage
    text = before.text if text is None else public(text)
    importance = before.importance if importance is None else importance
    tags = before.tags if tags is None else _clean_tags(tags)
    error = refusal(text, importance, tags, origin.reason)
    if error:
        raise error
    store = place.store(found.tier)
    known = _find_duplicate(store, text)
    if known and known.path != found.path:
        raise RejectedError(
            f"another passage ({known.passage.id}) already has this text",
            "remove one of the two passages",
        )
    if (text.strip("\n"), importance, tags) == (before.text, before.importance, before.tags):
        return ArchivedPassage(before.id, found.path, duplicate=True)
    quarantine.check_writable(store, found.path)
    archive.rewrite_passage(store, found.path, text, importance=importance, tags=tags)
    note = commit_writer.commit_passage(place, store, found.path, origin, "edit")
    return ArchivedPassage(before.id, found.path, False, note)


def remove_passage(place: Place, ident: str, origin: Origin) -> ArchivedPassage:
    """Remove a passage; only a person can.

    Raises `NotFoundError`, `RejectedError`, and `StoreError` for one that is held back.
    """
    if origin.actor == "agent":
        raise RejectedError(
            "only a person can remove a passage", "ask the user to remove the passage"
        )
    found = find_passage(place, ident)
    store = place.store(found.tier)
    quarantine.check_writable(store, found.path)
    files.remove(found.path)
    note = commit_writer.commit_passage(place, store, found.path, origin, "remove")
    return ArchivedPassage(found.passage.id, found.path, False, note)


def _read_all(tier: str, store: Store, cache: PassageCache | None = None) -> list[StoredPassage]:
    cache = cache or make_cache()
    read = ((path, cache.read(path, sign)) for path, sign in archive.sign_sources(store))
    return [StoredPassage(tier, path, passage) for path, passage in read if passage]


def _find_duplicate(store: Store, text: str) -> StoredPassage | None:
    merged = archive.merge_passages(text)
    known = (
        each for each in _read_all("", store) if archive.merge_passages(each.passage.text) == merged
    )
    return next(known, None)


def _clean_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(" ".join(tag.lower().split()) for tag in tags if tag.strip()))


def refusal(
    text: str, importance: int, tags: tuple[str, ...] = (), reason: str = ""
) -> MemfsError | None:
    """Return the error that keeps a passage from being archived, None if it can be."""
    text = public(text)
    if not text.strip():
        return UsageError(
            "the text is empty, so nothing was archived", "give the text of the passage"
        )
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
            "shorten the text, or split it into several passages",
        )
    return None
