"""The states a block went through, from the journal and from git; when it was read last."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from memfs import files
from memfs.core import label as labels
from memfs.core.block import Block
from memfs.core.errors import NotFoundError, Remedy
from memfs.core.records import JournalEntry
from memfs.files import atomic
from memfs.store import (
    blocks,
    clock,
    commits,
    journal,
    journal_query,
    local_folder,
    quarantine,
    store_paths,
)
from memfs.store.blocks import Place
from memfs.store.commits import Commit
from memfs.store.store_paths import Store

_READ_FOLDER = "read"

_TAIL = 256 << 10  # bytes of the journal that are read first
COMMIT = "commit"  # the operation of a state that git alone knows
_HEX = frozenset("0123456789abcdef")


def read(place: Place, label: str = "", most: int = 0) -> list[JournalEntry]:
    """Return the states of one block, or of all, newest first; at most `most` if it is given.

    A block that was renamed has those under its earlier labels, too. States known to git alone have
    `COMMIT` as operation, the author as actor, the subject as reason and the version that the file
    named. Edits made outside memfs are adopted first. What is held back is no state yet.
    """
    found: list[JournalEntry] = []
    journal_query.adopt(place)
    held = _list_held(place)
    if label:
        found = _read_block(place, *journal_query.resolve(place, label), most)
    else:
        for store in place.stores():
            found += _read_store(store, 0 if held else most)
    found.reverse()  # of one time, the last in its journal is the newest: that order is kept
    found.sort(key=_get_sort_key, reverse=True)
    found = list(_drop_held(found, held)) if held else found
    return found[:most] if most else found


def _list_held(place: Place) -> dict[str, str | None]:
    """Map the labels of blocks that are held back to the texts accepted last, None for none."""
    copies = quarantine.map_copies(place.project) if place.project else {}
    return {
        label: files.read(copy) if copy else None
        for name, copy in copies.items()
        if (label := store_paths.parse_label(name))
    }


def _drop_held(found: list[JournalEntry], held: Mapping[str, str | None]) -> Iterator[JournalEntry]:
    """Yield the states, newest first, without those after the one that was accepted last."""
    waiting = dict(held)
    for entry in found:
        if entry.tier == labels.PROJECT and entry.label in waiting:
            if waiting[entry.label] is None or entry.after != waiting[entry.label]:
                continue
            del waiting[entry.label]
        yield entry


def _read_store(store: Store, most: int) -> list[JournalEntry]:
    """Return the last states of all blocks, at least `most`: the journal is read from its end."""
    done, size = _list_commits(store, "blocks", most), _TAIL if most else 0
    while True:
        entries, is_whole = journal.read_last(store, size)
        found = _join(store, entries, done)
        since = entries[0].at if entries else ""
        is_known = not any(each.op == COMMIT and each.at >= since for each in found)
        if is_whole or (len(entries) >= most and is_known):
            return found
        size *= 8


def _read_block(place: Place, tier: str, label: str, most: int) -> list[JournalEntry]:
    """Return the states of one block, each under the label that it had then."""
    store = place.store(tier)
    found: list[JournalEntry] = []
    for span in journal_query.trace(place, tier, label):
        known = {entry.id: entry for entry in span.entries}
        entries = span.entries
        if span.since or span.until:  # a commit is of whichever block had the label then
            entries = journal_query.entries(place, tier, span.label)
        done: list[Commit] = []
        if tier != labels.SESSION:
            path = _get_path(place, store, tier, span.label)
            done = _list_commits(store, path, 0 if span.until else most)
        for entry in _join(store, entries, done):
            if entry.id in known:
                found.append(replace(known[entry.id], commit=entry.commit))
            elif entry.op == COMMIT and span.covers(entry.at):
                found.append(entry)
    return found


def _get_sort_key(entry: JournalEntry) -> tuple[str, bool, str]:
    own = entry.op != COMMIT
    return entry.at, own, entry.id[:12] if own else ""


def resolve_version(place: Place, label: str, version: str) -> str:
    """Return the version or commit that `-N` names: N states before the newest; others as they are.

    Raises `NotFoundError` if there are not so many states.
    """
    if not is_relative(version):
        return version
    back = int(version[1:])
    found = read(place, label)
    names = [name_state(entry) for entry in found]
    first = found[-1] if found else None
    if first is not None and first.before is not None and first.op != COMMIT:
        names.append(str(first.version - 1))  # as it was when the journal began
    if back < len(names):
        return names[back]
    if not found:
        blocks.get(place, label)
    oldest = f"the oldest is {1 - len(names)}" if len(names) > 1 else "the block was never changed"
    raise NotFoundError(
        f"'{label}' has no version {version}: {oldest}", Remedy("{versions}", label)
    )


def get_state_time(place: Place, label: str, version: str) -> str:
    """Return when a version or commit was written, "" if that is not known."""
    states = read(place, label)
    named = (each for each in states if version in {name_state(each), each.commit[: len(version)]})
    return next((each.at for each in named), "")


def is_relative(text: str) -> bool:
    """Tell whether a text names a version by how many states it is before the newest."""
    return text.startswith("-") and text[1:].isdecimal() and len(text) < 10


def name_state(entry: JournalEntry) -> str:
    """Return the name of a state: its version, or the start of the commit's id."""
    return entry.commit[:7] if entry.op == COMMIT else str(entry.version)


def read_version(place: Place, label: str, version: str) -> str:
    """Return the file text of a block at a version, or at a commit (its id, or the start of it).

    Raises `NotFoundError` if neither exists, or if it is held back.
    """
    text = _read_version(place, label, version)
    held = _list_held(place)
    tier, name = journal_query.resolve(place, label) if held else ("", "")
    if tier == labels.PROJECT and name in held:
        known = {text for entry in read(place, label) for text in (entry.after, entry.before)}
        if text not in known | {held[name]}:
            raise NotFoundError(
                f"version {version} of '{label}' was made by others, and you have not trusted it "
                "yet",
                Remedy("{trust}"),
            )
    return text


def _read_version(place: Place, label: str, version: str) -> str:
    if version.isdecimal():
        try:
            return journal_query.version(place, label, int(version))
        except NotFoundError:
            if len(version) < 7:
                raise
    tier, name = journal_query.resolve(place, label)
    store = place.store(tier)
    if is_commit(version) and tier != labels.SESSION:
        at = commits.get_time(store.root, version)
        for span in reversed(journal_query.trace(place, tier, name)):
            path = _get_path(place, store, tier, span.label)
            text = commits.read_file(store.root, version, path) if span.covers(at) else None
            if text is not None:
                return text
    raise NotFoundError(
        f"'{label}' has no version or commit {version}", Remedy("{versions}", label)
    )


def is_commit(text: str) -> bool:
    """Tell whether a text can be the id of a commit, or the start of one."""
    return 4 <= len(text) <= 64 and set(text) <= _HEX


def _get_path(place: Place, store: Store, tier: str, label: str) -> str:
    """Return the file of a block relative to its store, also where it is gone."""
    found = blocks.resolve_label(place, labels.qualify(tier, label))
    path = found[2] if found else f"{store.root}/blocks/{label}{blocks.SUFFIX}"
    return os.path.relpath(path, store.root)


def _list_commits(store: Store, path: str, most: int) -> list[Commit]:
    try:
        done = commits.list_touching(store.root, path, most)
    except TimeoutError:
        return []
    # A merge may leave others beside the blocks: `api.md~HEAD`, `api.md.orig`.
    return [each for each in done if blocks.is_block_file(each.path.removeprefix("blocks/"))]


def _join(store: Store, entries: list[JournalEntry], done: list[Commit]) -> list[JournalEntry]:
    """Join the entries of a store with commits, the newest first."""
    by_text: dict[tuple[str, str], list[JournalEntry]] = {}  # by label, and git's id of the text
    length = max((len(commit.blob) for commit in done), default=0)
    for entry in entries if length else ():
        for blob in {""} if entry.after is None else commits.blob_ids(entry.after, length):
            by_text.setdefault((entry.label, blob), []).append(entry)
    ids: dict[str, str] = {}
    alone: list[Commit] = []
    for commit in reversed(done):
        match = _match_entry(commit, by_text, ids)
        if match is None:
            alone.append(commit)
        else:
            ids[match.id] = commit.id
    texts = commits.read_blobs(store.root, [b for each in alone for b in (each.before, each.blob)])
    known = [replace(each, commit=ids[each.id]) if each.id in ids else each for each in entries]
    return known + [_make_entry(store, commit, texts) for commit in alone]


def _match_entry(
    commit: Commit, by_text: dict[tuple[str, str], list[JournalEntry]], ids: dict[str, str]
) -> JournalEntry | None:
    """Return the entry whose state a commit holds: its adoption, else the last one before it."""
    label = store_paths.parse_label(commit.path)
    free = [entry for entry in by_text.get((label, commit.blob), []) if entry.id not in ids]
    adopted = [e for e in free if e.reason.startswith(f"{COMMIT} {commit.short}:")]
    earlier = [e for e in free if e.at <= commit.at and not journal.is_commit(e)]
    return next(iter(adopted or earlier[::-1]), None)


def _make_entry(store: Store, commit: Commit, texts: Mapping[str, str]) -> JournalEntry:
    """Turn a commit that no entry holds into one; `texts` are those that git has, by their ids."""
    label, after = store_paths.parse_label(commit.path), texts.get(commit.blob)
    version = blocks.make(store.tier, label, "", after).version if after is not None else 0
    who = (commit.author, "git", "", store.tier, label, COMMIT, commit.subject)
    states = (version, texts.get(commit.before), after, store.tree)
    return JournalEntry(commit.id, commit.at, *who, *states, commit=commit.id)


def get_edit_time(place: Place, block: Block) -> str:
    """Return when the text of a block was written (UTC, ISO 8601); "" if that is not known."""
    head = journal_query.get_head(place, block.tier, block.label)
    if head is not None and journal.digest(block.raw) == head.digest:
        entry = journal.entry_at(place.store(block.tier), head.offset)
        if entry is not None:
            return entry.at
    return find_write_time(block.path, block.raw)


def find_write_time(path: str, text: str) -> str:
    """Return the time of the commit that a file's text is from, else that of the file."""
    commit = commits.source(path, text)
    return commit.at if commit else get_file_time(path)


def note_read(store: Store, tier: str, label: str) -> None:
    """Note that a block is read now. Ignores errors of the disk."""
    with suppress(OSError):
        local_folder.make(store)
        files.make_folder(f"{store.local}/{_READ_FOLDER}", private=True, durable=False)
        atomic.touch(_path(store, tier, label), clock.seconds())


def get_last_read(store: Store, tier: str, label: str) -> str:
    """Return when a block was read last (UTC, ISO 8601), "" if not known."""
    return get_file_time(_path(store, tier, label))


def get_file_time(path: str) -> str:
    """Return when a file was written last (UTC, ISO 8601), "" if there is none."""
    found = files.status(path)
    if found is None:
        return ""
    return datetime.fromtimestamp(found.st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _path(store: Store, tier: str, label: str) -> str:
    return f"{store.local}/{_READ_FOLDER}/{store_paths.file_name(f'{tier}:{label}')}"
