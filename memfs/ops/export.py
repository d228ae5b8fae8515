"""Write a whole store into one file, as a backup or to move it."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.core import file_redaction
from memfs.core import label as labels
from memfs.core.errors import StoreError
from memfs.files import logs, trees
from memfs.store import (
    archive,
    blocks,
    chunk_log,
    export_format,
    facts,
    quarantine,
    recall,
    session_outcomes,
    static,
    store_paths,
    writer,
)

if TYPE_CHECKING:
    from memfs.core.file_redaction import FileSecret
    from memfs.recall.index_sources import Stage
    from memfs.store.blocks import Place
    from memfs.store.store_paths import Store

SCAN = "looking for secrets"  # the stage that takes long, in bytes
_FOLDERS = {"archive": archive.SUFFIX, facts.FOLDER: facts.SUFFIX, static.FOLDER: static.SUFFIX}


@dataclass(frozen=True)
class Exported:
    """Done. `data` is the file itself if it was not written to a path.

    `counts` is the number of items of each kind, `secrets` where the export has secrets,
    `left_out` the files that could not be exported.
    """

    data: bytes
    size: int
    counts: dict[str, int]
    secrets: tuple[tuple[str, FileSecret], ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class SecretsFound:
    """Nothing was written: these files have secrets."""

    secrets: tuple[tuple[str, FileSecret], ...]


def run(
    place: Place,
    path: str,
    *,
    user: bool,
    everything: bool,
    force: bool,
    anyway: bool,
    stage: Stage = lambda *_: lambda _: None,
) -> Exported | SecretsFound:
    """Export the project's store (or the user's) to `path`; "" returns the bytes instead.

    `everything`: with recall and the history. `anyway`: also with secrets in it. `stage` is called
    with what is done and its bytes, and returns the callback for progress.
    """
    tier = labels.USER if user else labels.PROJECT
    if not user and place.project is None:
        raise StoreError("there is no project store here", "--user exports your own")
    store = place.store(tier)
    if path:
        export_format.check_target(path, force=force)
    with ExitStack() as stack:
        with suppress(OSError):  # a read-only store can be exported
            stack.enter_context(writer.writing(store, place))
        members, left_out = _collect_members(place, store, tier, everything=everything)
    tick = stage(SCAN, sum(map(len, members.values())))
    secrets: list[tuple[str, FileSecret]] = []
    for name, data in members.items():
        secrets += ((name, leak) for leak in _scan(name, data))
        tick(len(data))
    if secrets and not anyway:
        return SecretsFound(tuple(secrets))
    counts = _count_members(members)
    packed = export_format.pack(members, tier, counts)
    if path:
        export_format.save(path, packed)
    return Exported(b"" if path else packed, len(packed), counts, tuple(secrets), tuple(left_out))


def _collect_members(
    place: Place, store: Store, tier: str, *, everything: bool
) -> tuple[dict[str, bytes], list[str]]:
    """Return the contents of a store by name in the export, and the paths that were left out."""
    listed = [
        (path, f"blocks/{label}{blocks.SUFFIX}" if not labels.problem(label) else "")
        for found, label, path in blocks.paths(place)
        if found == tier
    ]
    for folder, suffix in _FOLDERS.items():
        paths = _list_files(f"{store.root}/{folder}", suffix)
        served = quarantine.list_served(store, f"{store.root}/{folder}", paths)
        listed += [(instead, _relative_name(path, store.root)) for path, instead in served]
    listed.append((blocks.get_config_path(store), store_paths.CONFIG))
    if everything:
        listed.append((store.journal, "local/journal.jsonl"))
        recall_files = _list_files(f"{store.local}/recall", recall.SUFFIX, recall.ASIDE)
        recall_files += [*chunk_log.list_segments(store), f"{store.local}/{session_outcomes.FILE}"]
        listed += [(path, f"local/{_relative_name(path, store.local)}") for path in recall_files]
    members: dict[str, bytes] = {}
    left_out = []
    for path, name in listed:
        data = logs.read_whole(path)
        if data is None:
            continue
        if export_format.problem(name) or name in members:
            left_out.append(path)
        else:
            members[name] = data
    return members, left_out


def _scan(name: str, data: bytes) -> list[FileSecret]:
    lines = name.endswith((recall.SUFFIX, recall.ASIDE))
    return file_redaction.find(
        data.decode("utf-8", "surrogateescape"), "lines" if lines else "text"
    )


def _list_files(top: str, *suffixes: str) -> list[str]:
    """List the files below a folder that have one of these suffixes."""
    return sorted(found.path for found in trees.walk(top) if found.name.endswith(suffixes))


def _relative_name(path: str, top: str) -> str:
    return os.path.relpath(path, top).replace(os.sep, "/")


def _count_members(members: dict[str, bytes]) -> dict[str, int]:
    def lines(prefix: str) -> int:
        return sum(data.count(b"\n") for name, data in members.items() if name.startswith(prefix))

    def count(prefix: str, suffix: str) -> int:
        return sum(name.startswith(prefix) and name.endswith(suffix) for name in members)

    return {
        "blocks": count("blocks/", blocks.SUFFIX),
        "passages": count("archive/", archive.SUFFIX),
        "facts": lines("facts/"),
        "static": count("static/", ".md"),
        "sessions": count("local/recall/", recall.SUFFIX),
        "windows": lines(f"local/{chunk_log.FOLDER}/"),
        "edits": lines("local/journal.jsonl"),
    }
