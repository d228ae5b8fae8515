"""Data sources: add, list, index and remove folders and files that are searched beside memory."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from memfs import files
from memfs.core import body_edits, settings
from memfs.core import label as labels
from memfs.core.errors import LockedError, NotFoundError, RejectedError, UsageError
from memfs.core.hits import Hit
from memfs.core.records import Origin
from memfs.core.snippet import has_lines
from memfs.recall import source_state
from memfs.recall.source_state import SourceState
from memfs.search.catalog import LeftOutError
from memfs.store import commit_writer, config_file, data_sources, quarantine, store_paths
from memfs.store.blocks import Place
from memfs.store.data_sources import DataSource
from memfs.store.store_paths import Store

if TYPE_CHECKING:
    from memfs.recall.index_sources import Stage

__all__ = ["DataSource", "ListedSource", "SourceState"]


@dataclass(frozen=True)
class ListedSource:
    """A source and the state of its index, None if it was never indexed."""

    source: DataSource
    state: SourceState | None


@dataclass(frozen=True)
class ConfiguredSource:
    """A source that was added or removed, and the file that says so.

    `state` is that of its index, None for a removed one and where the project is not trusted.
    `note` says why a commit that is configured failed.
    """

    name: str
    path: str
    note: str = ""
    state: SourceState | None = None


def list_sources(place: Place) -> tuple[list[ListedSource], list[str]]:
    """Return the sources of project and user, and what is refused, with reasons. Walks nothing."""
    found = data_sources.list_sources(place)
    listed = [ListedSource(each, source_state.load_state(each)) for each in found]
    return listed, data_sources.refuse_sources(place)


def find_source(place: Place, name: str) -> ListedSource:
    """Return the source of a name, or of `user:NAME`; a project's comes first."""
    tier, label = labels.parse(name)
    for each in data_sources.list_sources(place):
        if each.name == label and tier in (None, each.tier):
            return ListedSource(each, source_state.load_state(each))
    refused = [each for each in data_sources.refuse_sources(place) if f".{label} " in each]
    if refused:
        raise RejectedError(refused[0], "see all refused sources: memfs source list")
    raise NotFoundError(f"there is no source '{name}'", "list the sources: memfs source list")


def add(
    place: Place,
    name: str,
    paths: Iterable[str],
    origin: Origin,
    stage: Stage,
    *,
    globs: Iterable[str] = (),
    excludes: Iterable[str] = (),
    chunk_size: int | None = None,
    overlap: int | None = None,
    user: bool = False,
) -> ConfiguredSource:
    """Write a source into the configuration of the project, or of the user, and index it.

    `paths` are relative to the working directory, `stage` reports progress. Raises `UsageError` for
    what is not allowed, `RejectedError` for a name that is taken.
    """
    store = place.store(labels.USER) if user else place.home
    label = labels.normalise(name)
    if wrong := data_sources.check_name(label):
        raise UsageError(
            f"{name!r} cannot be the name of a source: {wrong}",
            "use a name such as docs or api-docs",
        )
    if odd := body_edits.check_metadata("the source", "\n".join([name, *paths, *globs, *excludes])):
        raise RejectedError(odd.message, odd.hint)
    value: dict[str, object] = {"paths": [_write_path(store, each) for each in paths]}
    for key, given in (("glob", list(globs)), ("exclude", list(excludes))):
        value |= {key: given} if given else {}
    if chunk_size not in (None, settings.DEFAULT_CHUNK_SIZE):
        value["chunk_size"] = chunk_size
    if overlap not in (None, settings.DEFAULT_OVERLAP):
        value["overlap"] = overlap
    source = data_sources.parse_source(store, label, value)
    if isinstance(source, str):
        raise UsageError(f"'{label}' cannot be a source: {source}")
    if label in data_sources.list_names(store):
        raise RejectedError(
            f"a source '{label}' already exists", f"remove it first: memfs source rm {label}"
        )
    done = _write(place, store, label, value, origin)
    if not store.trusted:
        return done
    return replace(done, state=_sync(place, source, stage))


def remove(place: Place, name: str, origin: Origin) -> ConfiguredSource:
    """Remove a source from the configuration, and its index; its files stay.

    A refused one can be removed, too. Raises `NotFoundError`.
    """
    tier, label = labels.parse(name)
    for each, store in place.list_lasting_tiers():
        if tier in (None, each) and label in data_sources.list_names(store):
            done = _write(place, store, label, None, origin)
            from memfs.recall import source_index  # the engine

            source_index.remove(store, label)
            return done
    raise NotFoundError(f"there is no source '{name}'", "list the sources: memfs source list")


def sync(place: Place, name: str, stage: Stage) -> list[ListedSource]:
    """Bring the index of a source ("": of all) in line with its files.

    `stage` reports progress (see `source_index.sync`). Raises `LockedError`, `NotFoundError`.
    """
    found = [find_source(place, name).source] if name else data_sources.list_sources(place)
    return [ListedSource(each, _sync(place, each, stage)) for each in found]


def _sync(place: Place, source: DataSource, stage: Stage) -> SourceState:
    from memfs.recall import source_index  # the engine

    state = source_index.sync(place, source, embed=True, stage=stage)
    if state is None:
        raise LockedError(
            f"another process is indexing '{source.name}'",
            f"see when indexing is done: memfs source show {source.name}",
        )
    return state


def _write(
    place: Place, store: Store, name: str, value: dict[str, object] | None, origin: Origin
) -> ConfiguredSource:
    if not store.private:
        quarantine.check_writable(store, f"{store.root}/{store_paths.CONFIG}")
    path = config_file.write_entry(store, data_sources.SECTION, name, value)
    verb = "remove" if value is None else "add"
    subject = origin.reason or f"memory: {verb} the source {name}"
    return ConfiguredSource(
        name, path, commit_writer.commit_files(place, store, [path], "source", subject, origin)
    )


def _write_path(store: Store, path: str) -> str:
    """Return a path of the working directory as the configuration of a store has it.

    Raises `NotFoundError` for one that is not there.
    """
    full = os.path.abspath(os.path.expanduser(path))
    if not os.path.exists(full):
        raise NotFoundError(f"there is no file or folder {path}")
    if store.private:
        home = os.path.expanduser("~")
        return f"~{full[len(home) :]}" if files.is_below(full, home) else full
    folder, top = os.path.realpath(os.path.dirname(full)), os.path.realpath(store.top)
    real = os.path.join(folder, os.path.basename(full))
    if not files.is_below(real, top):
        raise UsageError(
            f"{path} is outside of the project, whose configuration is shared with others",
            "add the path to your own configuration: memfs source add --user",
        )
    return os.path.relpath(real, top)


class FileLine(NamedTuple):
    """A line of a file; `found`: it is in the hit."""

    number: int
    text: str
    found: bool


def read_lines(place: Place, hit: Hit, more: int) -> list[FileLine]:
    """Return the lines of a hit with `more` before and after it, as they are now.

    None where the file is gone, or has no lines (PDF). Private parts are empty lines.
    """
    cutting = import_module("memfs.ingest.cutting")  # only if a file is opened
    first, last = hit.metadata.get("line"), hit.metadata.get("end")
    shown = str(hit.metadata.get("file", ""))
    paths = (
        f"{source.top}/{shown[len(source.shown) :]}"
        for source in data_sources.list_sources(place)
        if source.name == hit.label and shown.startswith(source.shown)
    )
    path = next(paths, "")
    if not path or not has_lines(path) or not isinstance(first, int) or not isinstance(last, int):
        return []
    try:
        data = (files.read(path) or "").encode("utf-8", "surrogateescape")
        text = cutting.decode(data).split("\n")
    except (OSError, LeftOutError):
        return []
    start = max(1, first - more)
    return [
        FileLine(number, line, first <= number <= last)
        for number, line in enumerate(text[start - 1 : last + more], start)
    ]
