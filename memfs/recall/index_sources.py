"""All searchable sources of a place, and its index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TypeAlias

from memfs import files
from memfs.core import label as labels
from memfs.core.errors import DamagedError, LockedError, MemfsError, StoppedError, StoreError
from memfs.recall import model_config, rule_search, vector_rebuild
from memfs.recall.documents import documents
from memfs.search import indexer
from memfs.search.catalog import IndexSource
from memfs.search.engine import Engine
from memfs.search.indexer import Indexed, Indexer
from memfs.search.model_files import ModelFiles
from memfs.store import archive, blocks, chunk_log, facts, local_folder, lock, recall, static
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

Stage: TypeAlias = Callable[[str, int], Callable[[int], object]]

LOCK = vector_rebuild.INDEX_LOCK


def sources(place: Place, logs: Iterable[str] | None = None) -> list[IndexSource]:
    """List the sources to index: recall of the project; all else of project and user.

    `logs` limits the recall files, None: all.
    """
    paths = recall.sources(place.home) if logs is None else logs
    found = [IndexSource(path, "message", grows=True) for path in paths]
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
    logs: Iterable[str] | None = None,
    rebuild: bool = True,
) -> Indexed | None:
    """Bring the index up to date; None if another process indexes for longer than `wait`.

    With `logs`, once the index is complete, only these are checked and nothing is removed:
    there may be thousands of others, and a hook must be quick.

    `stage` is called with the name of each stage and its number of documents (0: unknown), and
    returns a function that is called with the number of those done. Many vectors of a new model are
    made only with `stage` and `rebuild`; else they are left to the service, or to `memfs ingest`.
    """
    indexed = sources(place, logs)
    path = place.home.index
    if not indexed and not files.is_folder(path):
        return indexer.Indexed(0, 0)
    try:
        with lock.hold_lock(place.home, wait, LOCK):
            try:
                done, missing = _update_index(place, indexed, stage, logs, embed=embed)
            except DamagedError:
                done, missing = _update_index(place, indexed, stage, logs, embed=embed)
    except LockedError:
        return None
    if missing and embed and rebuild and stage is not None:
        with suppress(MemfsError):  # the service does it, or a search reports the problem
            vector_rebuild.run(place, stage("embedding", missing))
    return done


def _update_index(
    place: Place,
    indexed: list[IndexSource],
    stage: Stage | None,
    logs: Iterable[str] | None,
    *,
    embed: bool,
) -> tuple[Indexed, int]:
    """Do what `sync` does; return also how many vectors are left to make. Raises `DamagedError`."""
    path = place.home.index
    files.make_folder(path, private=True)
    with indexer.open_writer(path) as writer:
        partly = logs is not None and writer.whole
        done = writer.update(
            indexed if partly or logs is None else sources(place),
            documents,
            stage and stage("indexing", 0),
            partly=partly,
        )
        if done.sources:
            rule_search.refresh_rules(place)
        return done, _embed(place, writer, stage, embed=embed)


def renew(place: Place) -> None:
    """Remove a damaged index: the next search rebuilds it. Raises `LockedError`."""
    with lock.hold_lock(place.home, name=LOCK):
        indexer.remove(place.home.index)


@contextmanager
def open_feed(
    place: Place, stage: Stage | None = None, wait: float = 10.0
) -> Iterator[Indexer | None]:
    """Yield the writer that indexes messages while they are read; None if another process indexes.

    Messages count at the end, or with their batch. All else that is new is indexed at the end, in
    the same commit. Raises `DamagedError` for a damaged index, which is removed: all can be read
    again.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(lock.hold_lock(place.home, wait, LOCK))
        except LockedError:
            yield None
            return
        files.make_folder(place.home.index, private=True)
        writer = stack.enter_context(indexer.open_writer(place.home.index))
        try:
            yield writer
        except StoppedError:  # what was read until then is found
            writer.publish()
            raise
        writer.update(sources(place), documents, stage and stage("indexing", 0))
        rule_search.refresh_rules(place)


def _embed(place: Place, writer: Indexer, stage: Stage | None, *, embed: bool) -> int:
    """Make the missing vectors; return how many are left, if the model has changed.

    A model that cannot be used makes none: a search says so.
    """
    files = model_config.load_wanted_model(place).files
    if files is None:
        return 0
    missing = writer.count_missing_vectors(files.name)
    if missing >= model_config.FEW and model_config.is_model_change(place.home.index, files):
        return missing
    if embed:
        with suppress(StoreError):
            writer.embed(stage and stage("embedding", missing), files)
    return 0


def open_index(place: Place, model: ModelFiles | None) -> Engine:
    """Open the index of a place for searching (see `open_engine`)."""
    return open_engine(place.home, place.home.index, model)


def open_engine(store: Store, index: str, model: ModelFiles | None) -> Engine:
    """Open an index of a store for searching, with the vectors of a model, or by words alone.

    Raises `StoreError` for a model that cannot be used.
    """
    local_folder.make(store)
    files.make_folder(index, private=True)
    if model is None:
        return Engine.open(index, "text")
    from memfs.search import encoder  # with numpy

    return Engine.open(index, "hybrid", encoder.open_model(model).check())
