"""Write a whole store into one file, to keep it or to take it elsewhere."""

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
    archive_format,
    blocks,
    chunk_log,
    config,
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
    from memfs.store.blocks import Place
    from memfs.store.store_paths import Store

_FOLDERS = {"archive": archive.SUFFIX, facts.FOLDER: facts.SUFFIX, static.FOLDER: static.SUFFIX}


@dataclass(frozen=True)
class Exported:
    """Done. `data` is the file itself where it was not written to a path.

    `counts` says how much of each kind is in it, `secrets` where it holds some all the same,
    `left_out` which files could not be taken.
    """

    data: bytes
    size: int
    counts: dict[str, int]
    secrets: tuple[tuple[str, FileSecret], ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class SecretsFound:
    """Nothing was written: there are secrets in it, in these files."""

    secrets: tuple[tuple[str, FileSecret], ...]


def run(
    place: Place, path: str, *, user: bool, everything: bool, force: bool, anyway: bool
) -> Exported | SecretsFound:
    """Export the project's store (or the user's) to `path`; "" returns the bytes instead.

    `everything`: with recall and the history. `anyway`: also if there are secrets in it.
    """
    tier = labels.USER if user else labels.PROJECT
    if not user and place.project is None:
        raise StoreError("there is no project store here", "--user exports your own")
    store = place.store(tier)
    if path:
        archive_format.check_target(path, force=force)
    with ExitStack() as stack:
        with suppress(OSError):  # a store that may only be read can be exported
            stack.enter_context(writer.writing(store, place))
        members, left_out = _members(place, store, tier, everything=everything)
    secrets = tuple((name, leak) for name, data in members.items() for leak in _leaks(name, data))
    if secrets and not anyway:
        return SecretsFound(secrets)
    counts = _counts(members)
    packed = archive_format.pack(members, tier, counts)
    if path:
        archive_format.save(path, packed)
    return Exported(b"" if path else packed, len(packed), counts, secrets, tuple(left_out))


def _members(
    place: Place, store: Store, tier: str, *, everything: bool
) -> tuple[dict[str, bytes], list[str]]:
    """Return the files of a store by their names in the export, and those that have none."""
    listed = [
        (path, f"blocks/{label}{blocks.SUFFIX}" if not labels.problem(label) else "")
        for found, label, path in blocks.paths(place)
        if found == tier
    ]
    for folder, suffix in _FOLDERS.items():
        paths = _below(f"{store.root}/{folder}", suffix)
        served = quarantine.list_served(store, f"{store.root}/{folder}", paths)
        listed += [(instead, _name(path, store.root)) for path, instead in served]
    listed.append((config.path_of(store), store_paths.CONFIG))
    if everything:
        listed.append((store.journal, "local/journal.jsonl"))
        said = _below(f"{store.local}/recall", recall.SUFFIX, recall.ASIDE)
        said += [*chunk_log.list_segments(store), f"{store.local}/{session_outcomes.FILE}"]
        listed += [(path, f"local/{_name(path, store.local)}") for path in said]
    members: dict[str, bytes] = {}
    left_out = []
    for path, name in listed:
        data = logs.read_whole(path)
        if data is None:
            continue
        if archive_format.problem(name) or name in members:
            left_out.append(path)
        else:
            members[name] = data
    return members, left_out


def _leaks(name: str, data: bytes) -> list[FileSecret]:
    lines = name.endswith((recall.SUFFIX, recall.ASIDE))
    return file_redaction.find(
        data.decode("utf-8", "surrogateescape"), "lines" if lines else "text"
    )


def _below(top: str, *suffixes: str) -> list[str]:
    """List the files below a folder that end so."""
    return sorted(found.path for found in trees.walk(top) if found.name.endswith(suffixes))


def _name(path: str, top: str) -> str:
    return os.path.relpath(path, top).replace(os.sep, "/")


def _counts(members: dict[str, bytes]) -> dict[str, int]:
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
