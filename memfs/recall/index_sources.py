"""Everything of a place that can be searched, and its index."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from memfs import files
from memfs.core import label as labels
from memfs.core.errors import DamagedError, LockedError, MemfsError, StoreError
from memfs.recall import model_config, rule_search, vector_rebuild
from memfs.recall.documents import documents
from memfs.search import indexer
from memfs.search.catalog import IndexSource
from memfs.search.engine import Engine
from memfs.store import archive, blocks, chunk_log, facts, local_folder, lock, recall, static

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from memfs.search.indexer import Indexed, Indexer
    from memfs.search.model_files import ModelFiles
    from memfs.store.blocks import Place

    Stage: TypeAlias = Callable[[str, int], Callable[[int], object]]

LOCK = vector_rebuild.INDEX_LOCK


def sources(place: Place, said: Iterable[str] | None = None) -> list[IndexSource]:
    """List what is indexed: recall of the project; all else of project and user.

    `said` are the recall files to look at, None for all.
    """
    logs = recall.sources(place.home) if said is None else said
    found = [IndexSource(path, "message", grows=True) for path in logs]
    for tier, store in place.list_lasting_tiers():
        found += [IndexSource(path, "passage", tier=tier) for path in archive.sources(store)]
        found += [
            IndexSource(path, "window", tier=tier, grows=True)
            for path in chunk_log.list_segments(store)
        ]
        found += [IndexSource(path, "fact", tier=tier) for path in facts.sources(store)]
        found += [
            IndexSource(path, "static", tier=tier, label=key) for key, path in static.sources(store)
        ]
    found.extend(
        IndexSource(path, "block", tier=tier, label=label)
        for tier, label, path in blocks.paths(place)
        if tier != labels.SESSION
    )
    return found


def sync(
    place: Place,
    *,
    embed: bool,
    wait: float = 10.0,
    stage: Stage | None = None,
    said: Iterable[str] | None = None,
) -> Indexed | None:
    """Bring the index up to date; None if another process is at it for longer than `wait`.

    With `said` only these recall files are looked at, and nothing is taken out, once the index is
    whole: there may be thousands of others, and a hook is waited for.

    `stage` is called with what begins and how many documents it has (0: not known yet), and gives
    what is told of those that are done. Many vectors of another model than before are made for who
    waits for a `stage` alone; else they are left to the service, or to `memfs ingest`.
    """
    listed = sources(place, said)
    path = place.home.index
    if not listed and not files.is_folder(path):
        return indexer.Indexed(0, 0)
    try:
        with lock.hold_lock(place.home, wait, LOCK):
            try:
                done, many = _synced(place, listed, stage, said, embed=embed)
            except DamagedError:
                done, many = _synced(place, listed, stage, said, embed=embed)
    except LockedError:
        return None
    if many and embed and stage is not None:
        with suppress(MemfsError):  # the service is at it, or a search says why not
            vector_rebuild.run(place, stage("embedding", many))
    return done


def _synced(
    place: Place,
    listed: list[IndexSource],
    stage: Stage | None,
    said: Iterable[str] | None,
    *,
    embed: bool,
) -> tuple[Indexed, int]:
    """Do what `sync` does; tell also how many vectors are left to make. Raises `DamagedError`."""
    path = place.home.index
    files.make_folder(path, private=True)
    with indexer.open_writer(path) as writing:
        partly = said is not None and writing.whole
        done = writing.update(
            listed if partly or said is None else sources(place),
            documents,
            stage and stage("indexing", 0),
            partly=partly,
        )
        if done.sources:
            rule_search.refresh_rules(place)
        return done, _embed(place, writing, stage, embed=embed)


def renew(place: Place) -> None:
    """Remove an index that is damaged: the next search makes it anew. Raises `LockedError`."""
    with lock.hold_lock(place.home, name=LOCK):
        indexer.remove(place.home.index)


@contextmanager
def open_feed(
    place: Place, stage: Stage | None = None, wait: float = 10.0
) -> Iterator[Indexer | None]:
    """Give what messages are indexed with while they are read; None if another process indexes.

    What was fed counts when this ends, or with the batch that it is in. All else that is new is
    indexed at the end, in the same commit. Raises `DamagedError` for an index that was damaged: it
    is removed then, and all can be read again.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(lock.hold_lock(place.home, wait, LOCK))
        except LockedError:
            yield None
            return
        files.make_folder(place.home.index, private=True)
        writing = stack.enter_context(indexer.open_writer(place.home.index))
        yield writing
        writing.update(sources(place), documents, stage and stage("indexing", 0))
        rule_search.refresh_rules(place)


def _embed(place: Place, writing: Indexer, stage: Stage | None, *, embed: bool) -> int:
    """Make the vectors that are missing; return how many are left, of another model than before.

    A model that cannot be used gives none: a search says so.
    """
    files = model_config.load_wanted(place).files
    if files is None:
        return 0
    missing = writing.unembedded(files.name)
    if missing >= model_config.FEW and model_config.changes(place.home.index, files):
        return missing
    if embed:
        with suppress(StoreError):
            writing.embed(stage and stage("embedding", missing), files)
    return 0


def open_index(place: Place, model: ModelFiles | None) -> Engine:
    """Open the index of a place for searching, with the vectors of a model, or by words alone.

    Raises `StoreError` for a model that cannot be used.
    """
    local_folder.make(place.home)
    files.make_folder(place.home.index, private=True)
    if model is None:
        return Engine.open(place.home.index, "text")
    from memfs.search import encoder  # with numpy

    return Engine.open(place.home.index, "hybrid", encoder.open_model(model).check())
