"""The index of a data source: brought in line with its files (or with git), and opened."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from hashlib import blake2b

from memfs import files
from memfs.core import label as labels
from memfs.core.errors import DamagedError, LockedError, StoreError
from memfs.files import atomic, trees
from memfs.ingest import commit_log, cutting
from memfs.ingest.source_files import SourceWalk
from memfs.recall import model_config, source_state
from memfs.recall.index_sources import Stage
from memfs.recall.model_config import WantedModel
from memfs.recall.source_state import SourceState
from memfs.search import TEXT, catalog, indexer, vector_layout
from memfs.search.catalog import IndexSource
from memfs.search.doc_json import epoch
from memfs.search.indexer import Indexer
from memfs.search.model_files import ModelFiles
from memfs.store import clock, lock
from memfs.store.blocks import Place
from memfs.store.commits import SHORT
from memfs.store.data_sources import COMMITS, HISTORY, DataSource, has_unused_history
from memfs.store.store_paths import Store

_WEIGHT = 100  # percent of the weight of a user's message
_FORM = 1  # changes with what chunks are made of
_COMMIT = 20_000  # documents: what a killed run loses at most
_MOST_NAMED = 100  # files that are left out
_UNTOLD = (cutting.BINARY,)  # reasons of which no file is named


def sync(
    place: Place, source: DataSource, *, embed: bool, stage: Stage | None = None, wait: float = 10.0
) -> SourceState | None:
    """Bring the index of a source in line with its files; return its state.

    None if another process indexes it for longer than `wait` seconds. A run that was killed is
    continued. `stage` is called as in `index_sources.sync`: "looking", "indexing" (files) and
    "embedding" (documents). Without it, many vectors of a new model are left to make.
    """
    try:
        with hold_lock(place.store(source.tier), source.name, wait):
            try:
                return _sync(place, source, stage, embed=embed)
            except DamagedError:
                return _sync(place, source, stage, embed=embed, anew=True)
    except LockedError:
        return None


def count_missing_vectors(place: Place, source: DataSource) -> int:
    """Return about how many documents of a source have no vectors of its model yet."""
    model = _load_model(place, source).files
    return _count_missing(source, model) if model else 0


def find_model(place: Place, source: DataSource) -> ModelFiles | None:
    """Return the model whose vectors of a source are searched; None: by words alone."""
    return model_config.get_active_model(source.index, _load_model(place, source))


def remove_unused_history(place: Place, wait: float = lock.WAIT) -> bool:
    """Remove unused commits; return whether there were any. Raises `LockedError`."""
    if place.project is None or not has_unused_history(place):
        return False
    remove(place.project, HISTORY, wait)
    return True


def remove(store: Store, name: str, wait: float = lock.WAIT) -> None:
    """Remove the index of a source, and with it all that is kept of it. Raises `LockedError`."""
    with hold_lock(store, name, wait):
        remove_locked(store, name)


def remove_locked(store: Store, name: str) -> None:
    """Remove the index of a source whose lock the caller holds."""
    trees.remove(f"{store.sources}/{name}")


def hold_lock(store: Store, name: str, wait: float = lock.WAIT) -> AbstractContextManager[object]:
    """Hold the lock of a source. Raises `LockedError`."""
    return lock.hold_lock(store, wait, f"{os.path.basename(store.sources)}.{name}.lock")


def _sync(
    place: Place, source: DataSource, stage: Stage | None, *, embed: bool, anew: bool = False
) -> SourceState:
    before = source_state.load_state(source) or SourceState()
    form = _compute_form(source)
    lacks = any("PDF" in each for each in before.left)
    if anew or before.form != form or (lacks and cutting.can_read_pdf()):
        indexer.remove(source.index)
        before = SourceState(form=form)
    known = source_state.load_listings(source)
    if stage:
        stage("looking", 0)
    if source.kind == COMMITS:
        commit_log.update(source.top, source.paths[0], stage)
    walk = SourceWalk(source, known)
    files.make_folder(source.index, private=True)
    if walk.listings != known:
        _write(source, "listings.json", walk.listings)
    is_same = walk.stamp == before.stamp
    model = _load_model(place, source).files if embed else None
    missing = _count_missing(source, model) if model else 0
    if is_same and not _is_wanted(source, model, missing, stage):
        return before
    if not is_same:
        _write(source, "state.json", asdict(replace(before, stamp="")))  # until this run has ended
    with indexer.open_writer(source.index, _COMMIT) as writer:
        state = before if is_same else _update(source, writer, walk, form, stage)
        missing = writer.count_missing_vectors(model.name) if model else 0
        if _is_wanted(source, model, missing, stage):
            with suppress(StoreError):  # a search says so
                writer.embed(stage and stage("embedding", missing), model)
    _write(source, "state.json", asdict(state))
    return state


def _is_wanted(
    source: DataSource, model: ModelFiles | None, missing: int, stage: Stage | None
) -> bool:
    if model is None or not missing:
        return False
    return stage is not None or not model_config.is_left(source.index, model, missing)


def _update(
    source: DataSource, writer: Indexer, walk: SourceWalk, form: str, stage: Stage | None
) -> SourceState:
    unread: dict[str, str] = {}
    tick = stage("indexing", max(0, len(walk.files) - writer.count_sources())) if stage else None

    def read(file: IndexSource, start: int) -> Iterator[dict[str, object]]:
        if tick:
            tick(1)
        try:
            is_log = source.kind == COMMITS
            yield from _read_commits(file, start) if is_log else _read_documents(source, file)
        except OSError as error:
            unread[file.path] = f"cannot be read ({error.strerror})"
            raise

    grows = source.kind == COMMITS
    listed = (
        IndexSource(each.path, source.kind, grows, source.tier, source.name, each.signature)
        for each in walk.files
    )
    writer.update(listed, read)
    marks = writer.list_marks()
    reasons = {**walk.unreadable, **unread, **marks}
    named = sorted((path, why) for path, why in reasons.items() if why not in _UNTOLD)
    return SourceState(
        files=writer.count_sources() - len(marks),
        chunks=writer.count_documents(),
        left=dict(sorted((walk.left + Counter(reasons.values())).items())),
        named=[(_show(source, path), why) for path, why in named[:_MOST_NAMED]],
        missing=walk.missing,
        at=clock.now(),
        stamp=walk.stamp,
        form=form,
    )


def _read_documents(source: DataSource, file: IndexSource) -> Iterator[dict[str, object]]:
    name = file.path[len(source.top) + 1 :]
    at = file.signature.modified // 1_000_000_000 if file.signature else 0
    seen: Counter[int] = Counter()
    for chunk in cutting.cut_file(file.path, name, source.chunk_size, source.overlap):
        heading = " > ".join(chunk.headings)
        seen[chunk.first] += 1
        again = f".{seen[chunk.first]}" if seen[chunk.first] > 1 else ""
        place = {
            "file": _show(source, file.path),
            "heading": heading,
            "line": chunk.first,
            "end": chunk.last,
        }
        yield {
            "id": f"{source.name}/{name}#{chunk.first}{again}",
            "kind": source.kind,
            "label": source.name,
            "text": f"{heading}\n\n{chunk.text}" if heading else chunk.text,
            "weight": _WEIGHT,
            "at": at,
            "time": datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "meta": json.dumps(place),
        }


def _read_commits(file: IndexSource, start: int) -> Iterator[dict[str, object]]:
    for each in commit_log.read(file.path, start):
        yield {
            "id": f"commit/{each.id}",
            "kind": file.kind,
            "label": each.id[:SHORT],
            "text": each.text,
            "weight": _WEIGHT,
            "at": epoch(each.at) or 0,
            "time": each.at,
            "meta": json.dumps({"commit": each.id, "author": each.author}),
        }


def _count_missing(source: DataSource, model: ModelFiles) -> int:
    extent = vector_layout.load_extent(source.index, model.name)
    return max(0, catalog.count_documents(source.index) - max(1, extent.documents))


def _compute_form(source: DataSource) -> str:
    """Return a text that changes with what the chunks of a source are made of."""
    parts = (
        *(_FORM, TEXT, source.name, source.top, source.shown, source.globs, source.excludes),
        *(source.chunk_size, source.overlap),
    )
    return blake2b(repr(parts).encode("utf-8", "replace"), digest_size=8).hexdigest()


def _load_model(place: Place, source: DataSource) -> WantedModel:
    own = source.tier == labels.USER
    return model_config.load_wanted_model(Place(None, place.user) if own else place)


def _write(source: DataSource, name: str, value: object) -> None:
    text = json.dumps(value, separators=(",", ":"))
    atomic.write(f"{source.index}/{name}", text, private=True, durable=False)


def _show(source: DataSource, path: str) -> str:
    return f"{source.shown}{path[len(source.top) + 1 :]}"
