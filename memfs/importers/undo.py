"""Take an import back: what it added goes, what was changed since stays. The record of imports."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass

import msgspec

from memfs import files
from memfs.core.errors import NotFoundError, RejectedError
from memfs.core.records import Origin
from memfs.files import atomic, logs, trees
from memfs.store import (
    clock,
    commit_writer,
    inventory,
    journal,
    journal_query,
    lock,
    quarantine,
    recall,
    session_outcomes,
    writer,
)
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from memfs.store.writer import Change, Writer
from memfs.sync import instruction_sections

_FOLDER = "imports"
_SUFFIX = ".json"

_LINES: logs.JsonLog[str] = logs.JsonLog(files.encode, files.decode, shared=True)
_NOUNS = {"archive": "passage", "static": "static text", "facts": "fact", "local": "line"}


@dataclass(frozen=True)
class Unimported:
    """What an undo removed, by noun, and what it kept: (name, why). `note`: see `Imported`."""

    source: str
    removed: Mapping[str, int]
    kept: tuple[tuple[str, str], ...]
    note: str = ""


def list_imports(place: Place) -> list[ImportRecord]:
    """Return the imports into the stores of a place that can be taken back, the oldest first."""
    found: dict[str, ImportRecord] = {}
    for store in place.stores():
        for record in read_all(store):
            before = found.get(record.id)
            parts = (*before.parts, *record.parts) if before else record.parts
            found[record.id] = ImportRecord(record.id, record.at, record.source, parts)
    return sorted(found.values(), key=lambda record: (record.at, record.id))


def run(place: Place, ident: str, origin: Origin) -> Unimported:
    """Take back all that an import added to the stores of a place.

    A file that was changed since stays, a block that was edited since, too. The next search makes
    the index anew, so that no removed text stays in its files. Raises `NotFoundError`, and
    `RejectedError` for an agent.
    """
    if origin.actor == "agent":
        raise RejectedError(
            "only a person can undo an import, "
            f"but this is a shell of {origin.host or 'an assistant'}",
            f"run memfs import --undo {ident} in your own terminal",
        )
    known = [(store, each) for store in place.stores() for each in read_all(store)]
    found = [(store, each) for store, each in known if ident and each.id.startswith(ident)]
    if len({each.id for _, each in found}) != 1:
        several = f"several import ids start with '{ident}'" if found else ""
        raise NotFoundError(
            several or f"no import has the id '{ident}'", "list the imports: memfs import --list"
        )
    undoing = _Undoing(place, origin)
    for store, record in found:
        undoing.undo(store, record)
    return Unimported(
        found[0][1].source, undoing.removed, tuple(undoing.kept), "; ".join(undoing.notes)
    )


class _Undoing:
    def __init__(self, place: Place, origin: Origin) -> None:
        self._place, self._origin = place, origin
        self.removed: Counter[str] = Counter()
        self.kept: list[tuple[str, str]] = []
        self.notes: list[str] = []

    def undo(self, store: Store, record: ImportRecord) -> None:
        """Take back what was added to one store."""
        changed: list[str] = []
        with ExitStack() as stack:
            stack.enter_context(lock.hold_locks(self._place.stores(), lock.INGEST, lock.KINDS))
            store_writer = stack.enter_context(writer.writing(store, self._place))
            changes = self._plan_blocks(store, store_writer, record)
            if changes:
                store_writer.commit(changes, self._origin)
            for part in record.parts:
                if part.kind != "block" and self._remove_part(store, part):
                    changed.append(locate(store, part.path))
            remove(store, record)
        with lock.hold_lock(store, name=lock.INDEX):
            inventory.remove_indexes(store)  # what is deleted in one stays in its files
        place, origin = self._place, self._origin
        committed = [path for path in changed if not path.startswith(f"{store.local}/")]
        subject = f"memory: take back the import of {record.source}"
        note = commit_writer.commit_files(place, store, committed, "undo", subject, origin)
        renewed = instruction_sections.finish_edit(place, changes, origin)
        self.notes += filter(None, (note, renewed))

    def _plan_blocks(
        self, store: Store, store_writer: Writer, record: ImportRecord
    ) -> list[Change]:
        wanted = {part.marks[0] for part in record.parts if part.kind == "block"}
        changes = []
        found = journal.read(store) if wanted else []
        for entry in [each for each in found if each.id in wanted]:
            path = f"{store.root}/blocks/{entry.label}.md"
            now, version = store_writer.adopt_current(entry.tier, entry.label, path)
            if now is None and entry.before is None:
                continue
            if now != entry.after:
                self.kept.append((entry.label, "it was edited after the import"))
                continue
            why, about = f"undo of version {entry.version}", (entry.tier, entry.label, path)
            texts = entry.after, entry.before
            changes.append(Change(*about, *texts, journal_query.UNDO, version + 1, why))
            self.removed["block" if entry.before is None else "block edit"] += 1
        return changes

    def _remove_part(self, store: Store, part: AddedPart) -> bool:
        """Return whether a file was changed."""
        path = locate(store, part.path)
        if not files.is_file(path):
            return False
        try:
            quarantine.check_writable(store, path)
            if part.kind == "messages":
                changed = self._remove_messages(store, path, part)
            else:
                changed = self._remove_file(path, part)
        except OSError as error:
            self.kept.append((part.path, error.strerror or "it cannot be written"))
            return False
        folder = os.path.dirname(path)
        if changed and not any(files.entries(folder)):  # the import may have made it
            trees.remove(folder)
        return changed

    def _remove_file(self, path: str, part: AddedPart) -> bool:
        """Remove a file, or what an import added to its lines."""
        gone, noun = set(part.marks), _NOUNS.get(part.path.partition("/")[0], part.kind)
        if part.kind == "lines":
            count = _LINES.rewrite(path, lambda line: None if hash_text(line) in gone else line)
            if count and not files.get_size(path):
                files.remove(path)
        elif hash_text(files.read(path) or "") in gone:
            count = 1
            files.remove(path)
        else:
            count = 0
            self.kept.append((part.path, "it was changed after the import"))
        if count:
            self.removed[noun] += count
        return count > 0

    def _remove_messages(self, store: Store, path: str, part: AddedPart) -> bool:
        gone = set(part.marks)
        said = list(recall.messages(path))
        kept = [message for message in said if message.id not in gone]
        if len(kept) == len(said):
            return False
        self.removed["message"] += len(said) - len(kept)
        if kept:
            recall.write_session(path, kept)
        else:
            recall.remove_session(path)
            self.removed["session"] += 1
            names = {(said[0].host, said[0].session)}
            session_outcomes.remove_traces(self._place, store, names)
        return True


@dataclass(frozen=True)
class AddedPart:
    """One thing that an import added.

    `kind` is file, lines, messages or block. `path` is below the store's folder, or, where it
    begins with `local/`, below its local folder; of a block it is the label. `marks` are the hash
    of a file, those of lines, ids of messages, or the id of a block's journal entry.
    """

    kind: str
    path: str
    marks: tuple[str, ...]


@dataclass(frozen=True)
class ImportRecord:
    """One import into one store: its id, time, what it was from, and what it added."""

    id: str
    at: str
    source: str
    parts: tuple[AddedPart, ...]


def make_id() -> str:
    """Return a new id, short enough to be typed."""
    return clock.unique()[4:16]


def hash_text(text: str) -> str:
    """Return the hash by which a text is known again."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def locate(store: Store, path: str) -> str:
    """Return the file that a part's path names."""
    if path.startswith("local/"):
        return f"{store.local}/{path.removeprefix('local/')}"
    return f"{store.root}/{path}"


def clear_temporary(store: Store) -> None:
    """Remove what killed runs left half-written. The caller holds the lock of ingestion."""
    folder = f"{store.local}/{_FOLDER}"
    for name in files.names(folder):
        if name.startswith(".") and name.endswith(".tmp"):
            files.remove(f"{folder}/{name}")


def save(store: Store, record: ImportRecord) -> None:
    """Write down an import. The caller holds the lock of ingestion."""
    folder = f"{store.local}/{_FOLDER}"
    files.make_folder(folder, private=True)
    text = msgspec.json.encode(asdict(record)).decode()
    atomic.write(_get_path(store, record.id), text, private=True, locked=True)


def read_all(store: Store) -> list[ImportRecord]:
    """Return the imports that were not taken back, the oldest first; damaged ones are left out."""
    folder = f"{store.local}/{_FOLDER}"
    found = []
    for name in sorted(files.names(folder)):
        if name.endswith(_SUFFIX) and not name.startswith("."):
            text = files.read(f"{folder}/{name}", cap=1 << 30) or ""
            try:
                found.append(msgspec.json.decode(text, type=ImportRecord))
            except (ValueError, msgspec.MsgspecError):
                continue
    return sorted(found, key=lambda record: (record.at, record.id))


def remove(store: Store, record: ImportRecord) -> None:
    """Remove the note of an import."""
    files.remove(_get_path(store, record.id))


def _get_path(store: Store, ident: str) -> str:
    return f"{store.local}/{_FOLDER}/{ident}{_SUFFIX}"
