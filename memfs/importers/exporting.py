"""Write a whole store into one file, as a backup or to move it, or for another tool."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memfs.core import file_redaction
from memfs.core import label as labels
from memfs.core.errors import StoreError
from memfs.core.file_redaction import FileSecret
from memfs.core.records import Passage
from memfs.files import logs, trees
from memfs.importers import export_format, writers
from memfs.importers.writers import MemoryContents
from memfs.store import (
    archive,
    blocks,
    chunk_log,
    facts,
    quarantine,
    recall,
    session_outcomes,
    static,
    store_paths,
    writer,
)
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

if TYPE_CHECKING:
    from memfs.recall.index_sources import Stage

SCAN = "looking for secrets"  # the stage that takes long, in bytes
_FOLDERS = {"archive": archive.SUFFIX, facts.FOLDER: facts.SUFFIX, static.FOLDER: static.SUFFIX}


@dataclass(frozen=True)
class Exported:
    """Done. `data` is the file itself if it was not written to a path.

    `counts` is the number of items of each kind, `secrets` where the export has secrets,
    `left_out` the files that could not be exported. For another tool, `paths` are the files that
    were written, and `unplaced` counts what its format has no place for.
    """

    data: bytes
    size: int
    counts: dict[str, int]
    secrets: tuple[tuple[str, FileSecret], ...]
    left_out: tuple[str, ...]
    paths: tuple[str, ...] = ()
    unplaced: Mapping[str, int] = field(default_factory=dict)


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
    tier, store = _choose_store(place, user=user)
    if path:
        export_format.check_target(path, force=force)
    with ExitStack() as stack:
        with suppress(OSError):  # a read-only store can be exported
            stack.enter_context(writer.writing(store, place))
        members, left_out = _collect_members(place, store, tier, everything=everything)
    secrets = _find_secrets(members, stage)
    if secrets and not anyway:
        return SecretsFound(secrets)
    counts = _count_members(members)
    packed = export_format.pack(members, tier, counts)
    if path:
        export_format.save(path, packed)
    return Exported(b"" if path else packed, len(packed), counts, secrets, tuple(left_out))


def convert(
    place: Place,
    tool: str,
    path: str,
    *,
    user: bool,
    everything: bool,
    force: bool,
    anyway: bool,
    stage: Stage = lambda *_: lambda _: None,
) -> Exported | SecretsFound:
    """Export blocks, passages, facts and static entries in the format of another tool.

    See `run`. `path` is a file or a folder, as the format has it. `everything`: with sessions where
    the format has a place for them. The store stays as it is.
    """
    exporter = writers.get(tool)
    tier, store = _choose_store(place, user=user)
    export_format.check_target(path, force=force, is_folder=exporter.folder)
    memory = _load_contents(place, store, tier, sessions=everything and exporter.folder)
    made = exporter.make_files(memory)
    named = {name or os.path.basename(path): data for name, data in made.items()}
    secrets = _find_secrets(named, stage, "text" if exporter.folder else "json")
    if secrets and not anyway:
        return SecretsFound(secrets)
    counts = {"blocks": len(memory.blocks), "passages": len(memory.passages)}
    counts["sessions"] = len(memory.sessions)
    heads = [*(block.head for block in memory.blocks), *memory.heads.values()]
    keys = (key for head in heads for key in blocks.front_matter(head))
    unplaced = {"keys": sum(key in exporter.keys for key in keys)}
    if everything:
        unplaced["sessions"] = 0 if exporter.folder else len(recall.sources(store))
        unplaced["edits"] = (logs.read_whole(store.journal) or b"").count(b"\n")
    stem = os.path.splitext(path)[0]
    paths = [
        os.path.join(path, name) if exporter.folder else stem + name if name else path
        for name in made
    ]
    for each in () if exporter.folder else paths:
        export_format.check_target(each, force=force)
    for each, data in zip(paths, made.values(), strict=True):
        export_format.save(each, data)
    size = sum(map(len, made.values()))
    return Exported(b"", size, counts, secrets, (), tuple(paths), unplaced)


def _choose_store(place: Place, *, user: bool) -> tuple[str, Store]:
    if not user and place.project is None:
        raise StoreError("there is no project store here", "add --user to export your own store")
    tier = labels.USER if user else labels.PROJECT
    return tier, place.store(tier)


def _load_contents(place: Place, store: Store, tier: str, *, sessions: bool) -> MemoryContents:
    said = {}
    for path in recall.sources(store) if sessions else ():
        if messages := tuple(recall.messages(path)):
            host = os.path.basename(os.path.dirname(path))
            said[host, os.path.basename(path).removesuffix(recall.SUFFIX)] = messages
    return MemoryContents(
        name=os.path.basename(store.top) if tier == labels.PROJECT else tier,
        blocks=tuple(
            blocks.read(tier, label, path)
            for found, label, path in blocks.paths(place)
            if found == tier
        ),
        passages=tuple(_list_passages(store)),
        sessions=said,
        heads={
            os.path.basename(path).removesuffix(archive.SUFFIX): archive.read_head(path)
            for path in archive.sources(store)
        },
    )


def _list_passages(store: Store) -> Iterator[Passage]:
    """Yield the passages of a store, its static entries, and a list of the facts of each month."""
    yield from filter(None, map(archive.read, archive.sources(store)))
    for entry in static.list_entries(store):
        tags = tuple(filter(None, (static.FOLDER, entry.category, *entry.tags)))
        ident = f"{static.FOLDER}-{entry.key.replace('/', '-')}"
        yield Passage(ident, entry.text, entry.created_at, tags=tags, source=f"static: {entry.key}")
    months: dict[str, list[str]] = {}
    for fact in facts.load_facts(store).values():
        if fact.holds:
            line = f"- [{fact.category}] {' '.join(fact.statement.split())}"
            months.setdefault(fact.at[:7], []).append(line)
    for month, lines in months.items():
        at = f"{month}-01T00:00:00Z" if month else ""
        yield Passage(f"facts-{month}", "\n".join(lines), at, tags=(facts.FOLDER,), source="facts")


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
        served = quarantine.list_files(store, folder, suffix)
        listed += [(path, f"{folder}/{name}") for name, path in served]
    listed.append((blocks.get_config_path(store), store_paths.CONFIG))
    if everything:
        listed.append((store.journal, "local/journal.jsonl"))
        kept = [each.path for each in trees.walk(f"{store.local}/recall")]
        recall_files = sorted(path for path in kept if path.endswith((recall.SUFFIX, recall.ASIDE)))
        recall_files += [*chunk_log.list_segments(store), f"{store.local}/{session_outcomes.FILE}"]
        recall_files += [each.path for each in trees.walk(f"{store.local}/{facts.FOLDER}")]
        listed += [(path, f"local{path.removeprefix(store.local)}") for path in recall_files]
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


def _find_secrets(
    made: Mapping[str, bytes], stage: Stage, form: file_redaction.Form = "text"
) -> tuple[tuple[str, FileSecret], ...]:
    tick = stage(SCAN, sum(map(len, made.values())))
    secrets: list[tuple[str, FileSecret]] = []
    for name, data in made.items():
        text = data.decode("utf-8", "surrogateescape")
        lines = (
            name.endswith((recall.SUFFIX, recall.ASIDE))
            if form == "text"
            else text[:7] == '{"type"'
        )
        secrets += ((name, leak) for leak in file_redaction.find(text, "lines" if lines else form))
        tick(len(data))
    return tuple(secrets)


def _count_members(members: dict[str, bytes]) -> dict[str, int]:
    def lines(prefix: str) -> int:
        return sum(data.count(b"\n") for name, data in members.items() if name.startswith(prefix))

    def count(prefix: str, suffix: str) -> int:
        return sum(name.startswith(prefix) and name.endswith(suffix) for name in members)

    return {
        "blocks": count("blocks/", blocks.SUFFIX),
        "passages": count("archive/", archive.SUFFIX),
        "facts": lines("facts/") + lines("local/facts/"),
        "static": count("static/", ".md"),
        "sessions": count("local/recall/", recall.SUFFIX),
        "windows": lines(f"local/{chunk_log.FOLDER}/"),
        "edits": lines("local/journal.jsonl"),
    }
