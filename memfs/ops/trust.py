"""Trust a project's store, after a report of what hooks would inject from it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs import files
from memfs.core import changes, injection_signs
from memfs.core.errors import RejectedError, StoreError
from memfs.files import logs
from memfs.store import (
    archive,
    blocks,
    commits,
    config_check,
    facts,
    git,
    incoming_changes,
    local_folder,
    prompts,
    recall,
    static,
    store_paths,
    trust,
    upstream_changes,
)
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memfs.core.block import Block
    from memfs.core.injection_signs import Sign
    from memfs.store.incoming_changes import IncomingChanges
    from memfs.store.store_paths import Store
    from memfs.store.upstream_changes import UpstreamChange

_MOST_COMMITS = 1000


@dataclass(frozen=True)
class BlockReview:
    """A block as it would be injected, its authors, and its signs of injection."""

    block: Block
    authors: tuple[str, ...]
    signs: tuple[Sign, ...]


@dataclass(frozen=True)
class ForeignChange:
    """A change by others to a block of a trusted store: `diff` is unified."""

    key: str
    what: str
    author: str
    why: str
    diff: str


@dataclass(frozen=True)
class TrustReport:
    """The report for a person who decides whether to trust a store.

    `tracked` counts the files of `local/` that came with the repository: memfs never commits them.
    `changed` lists the changes by others since the last review, `config` is the text of
    `config.yaml`, `elsewhere` the signs of injection in files that are no blocks.
    """

    root: str
    trusted: bool
    blocks: tuple[BlockReview, ...]
    passages: int
    sessions: int
    tracked: int
    problems: tuple[str, ...]
    changed: tuple[ForeignChange, ...]
    facts: int = 0
    entries: int = 0
    config: str = ""
    elsewhere: tuple[tuple[str, Sign], ...] = ()
    found: IncomingChanges | None = None


def review_store(place: Place) -> TrustReport:
    """Report on the project's store of a place. Raises `StoreError` if there is none."""
    store = store_paths.without_quarantine(_require_project(place))
    alone = Place(store, None)
    trusted = store_paths.is_trusted(store)
    authors = _load_authors(store)
    found = incoming_changes.find_incoming(store)
    return TrustReport(
        store.root,
        trusted,
        tuple(_review_block(block, store, authors) for block in blocks.load(alone)),
        len(archive.sources(store)),
        len(recall.sources(store)),
        len((git.run(store.root, "ls-files", "-s", "-z", paths=["local"]) or "").split("\0")) - 1,
        tuple(config_check.find_problems(store)),
        tuple(_load_changes(alone)) if trusted else (),
        len(facts.load_facts(store)),
        sum(1 for _ in static.list_entries(store)),
        files.read(f"{store.root}/{store_paths.CONFIG}") or "",
        tuple(_find_signs(store)),
        found,
    )


def accept(place: Place, shown: TrustReport | None = None) -> None:
    """Trust the project's store of a place, as it was `shown`, or as it is now.

    Raises `StoreError` if it changed since it was shown.
    """
    store = _require_project(place)
    if shown is None:
        shown = review_store(place)
    if shown.found is None or not incoming_changes.is_same(
        incoming_changes.find_incoming(store), shown.found
    ):
        raise StoreError(
            f"{store.root} was changed while you looked at it: nothing was decided",
            "look at it again: memfs trust",
        )
    incoming_changes.accept_seen(store, shown.found)
    trust.grant_trust(store)


def adopt_local(place: Place, name: str = "") -> str:
    """Use another local folder of the project's store: `name`, or the one there is.

    Returns where the folder is that was used until now, "" if there is none to take. Raises
    `RejectedError` where there are several.
    """
    store = _require_project(place)
    found = local_folder.find_unused(store)
    if not name and found:
        if len(found) > 1 and store_paths.LOCAL not in found:
            raise RejectedError(
                f"there are {len(found)} local folders that are not used: {', '.join(found)}",
                f"name one: memfs trust --local {found[-1]}",
            )
        name = store_paths.LOCAL if store_paths.LOCAL in found else found[0]
    return local_folder.adopt_folder(store, name.strip("/")) if name else ""


def revoke(place: Place) -> bool:
    """Revoke the trust of the project's store; return whether it was trusted."""
    return trust.revoke_trust(_require_project(place))


def _require_project(place: Place) -> Store:
    if place.project is None:
        raise StoreError("there is no project store here to trust", "your own store needs no trust")
    return place.project


def _find_signs(store: Store) -> Iterator[tuple[str, Sign]]:
    """Yield the signs of injection in files that are no blocks, as (file name, sign)."""
    paths = [f"{store.root}/{store_paths.CONFIG}", *archive.sources(store), *facts.sources(store)]
    paths += [f"{store.root}/{prompts.FOLDER}/{name}" for name in prompts.list_files(store)]
    for path in [*paths, *(path for _, path in static.sources(store))]:
        text = files.decode(logs.read_whole(path) or b"")
        for sign in injection_signs.find_signs(text):
            yield os.path.relpath(path, store.root), sign


def _review_block(block: Block, store: Store, authors: dict[str, list[str]]) -> BlockReview:
    names = authors.get(os.path.relpath(block.path, store.root), [])
    return BlockReview(
        block, tuple(names), tuple(injection_signs.find_signs(block.head + block.body))
    )


def _load_authors(store: Store) -> dict[str, list[str]]:
    """Map block files to the authors of their commits, newest first."""
    found: dict[str, list[str]] = {}
    for commit in commits.list_touching(store.root, "blocks", _MOST_COMMITS):
        names = found.setdefault(commit.path, [])
        if commit.author not in names:
            names.append(commit.author)
    return found


def _load_changes(place: Place) -> list[ForeignChange]:
    found = upstream_changes.review_changes(place, note=False).pulled
    store = _require_project(place)
    texts = upstream_changes.load_texts(store, found)
    return [
        ForeignChange(
            change.key,
            change.what,
            change.who,
            change.why,
            changes.format_diff(
                texts.get(change.before, ""), _read(store, change), "before", "now"
            ),
        )
        for change in found
    ]


def _read(store: Store, change: UpstreamChange) -> str:
    """Return the text of the file; that in git may differ (LFS)."""
    return files.decode(logs.read_whole(f"{store.root}/{change.name}") or b"")
