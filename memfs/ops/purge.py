"""Find the secrets in all stored files, and replace them by `[redacted:TYPE]` everywhere.

The same text is redacted in the same way everywhere: the rewritten journal still agrees with the
files. Derived files are deleted first, under the locks of those who rebuild them; a run that was
killed is finished by running it again.
"""

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass

from memfs import files, hosts
from memfs.core import file_redaction, yaml_edit
from memfs.core import label as labels
from memfs.core.errors import StoreError
from memfs.core.records import Origin
from memfs.files import atomic, logs
from memfs.recall import source_index
from memfs.recall.index_sources import Stage
from memfs.secrets import redact
from memfs.store import (
    blocks,
    commit_writer,
    commits,
    git,
    handoff,
    inventory,
    journal,
    lock,
    recall,
    remote_store,
    writer,
)
from memfs.store.blocks import Place
from memfs.store.data_sources import HISTORY
from memfs.store.inventory import StoreFile
from memfs.store.store_paths import Store
from memfs.store.writer import Change
from memfs.sync import instruction_sections

OP = "purge"
_BY = Origin("user", reason="secrets redacted")
_MOST_VERSIONS = 5_000  # of files in git's history, newest first
_AT_ONCE = 100
_PATIENCE = 15.0  # seconds to scan them

# Locks of all who append to a file that is rewritten. Edits take that of the store, and who reads
# commits that of their source.
_LOCKS = (lock.INGEST, lock.INDEX, lock.SESSION_GRAPH, lock.KINDS)


@dataclass(frozen=True)
class StoredSecret:
    """A secret in a file. `ours`: the file is memfs's own, and can be redacted from here."""

    path: str
    line: int
    type: str
    masked: str
    ours: bool


@dataclass(frozen=True)
class CommittedSecret:
    """A secret that a commit brought into git's history."""

    commit: str
    path: str
    type: str
    masked: str


@dataclass(frozen=True)
class SecretScan:
    """All secrets that were found, and the places that were not scanned.

    `unread` names what could not be scanned, or not to its end; `transcripts` the folders of
    assistants with the transcripts of this project, which are not ours.
    """

    found: tuple[StoredSecret, ...]
    commits: tuple[CommittedSecret, ...]
    unread: tuple[str, ...]
    transcripts: tuple[str, ...]


@dataclass(frozen=True)
class Purged:
    """The secrets redacted, and those left, in files of others or of other projects.

    `note` says why a commit or sync that is configured failed.
    """

    done: tuple[StoredSecret, ...]
    left: tuple[StoredSecret, ...]
    note: str = ""


def find(place: Place, home: str, stage: Stage = lambda *_: lambda _: None) -> SecretScan:
    """Scan every file of the stores, and their history in git.

    `stage` is called with what is done and the number of files, and returns the callback for each.
    """
    place = blocks.without_quarantine(place)
    committed: list[CommittedSecret] = []
    unread: list[str] = []
    found = _find_all(place, unread, stage)
    folders = [store.root for store in place.stores()]
    if place.user and remote_store.load_state(place.user):
        folders.append(remote_store.get_folder(place.user))
    for folder in folders:
        if not _scan_history(folder, committed):
            unread.append(f"the git history of {folder}")
    top = place.home.top
    transcripts = {
        os.path.dirname(path)
        for n in hosts.READERS
        for path in hosts.reader(n).list_transcripts(home, top)
    }
    return SecretScan(tuple(found), tuple(committed), tuple(unread), tuple(sorted(transcripts)))


def run(place: Place) -> Purged:
    """Redact all secrets in files of ours. Raises `LockedError`; nothing is changed then."""
    place, silent = blocks.without_quarantine(place), lambda *_: lambda _: None
    stores = sorted(place.stores(), key=lambda store: os.path.realpath(store.local))
    with ExitStack() as stack:  # all of them before anything is removed
        trees = [tree for store in stores for tree in (store, *inventory.list_worktrees(store))]
        for tree in sorted(trees, key=lambda each: os.path.realpath(each.sources)):
            stack.enter_context(source_index.hold_lock(tree, HISTORY))
        stack.enter_context(lock.hold_locks(stores, *_LOCKS))
        done = [each for each in _find_all(place, [], silent) if each.ours]
        for store in stores:
            _purge_store(store, place)
    paths = list(dict.fromkeys(each.path for each in done))
    notes = []
    for store in stores:
        committed = {each.path for each in inventory.list_committed(store)}
        mine = [path for path in paths if path in committed]
        notes.append(
            commit_writer.commit_files(place, store, mine, OP, "memory: secrets redacted", _BY)
        )
    if done:
        tiers = {store.tier for store in stores}
        notes.append(instruction_sections.renew_after_edit(place, tiers))
    left = _find_all(place, [], silent)
    return Purged(tuple(done), tuple(left), "; ".join(note for note in notes if note))


def _purge_store(store: Store, place: Place) -> None:
    worktrees = [store, *inventory.list_worktrees(store)]
    stored = [each for each in _list_files(store) if each.kind != "foreign"]
    leaking = list(filter(_find_in_file, stored))
    if not leaking:
        return
    inventory.remove_indexes(store)
    handoff.write(store, [])  # in its cut texts no half of a secret would be found
    for tree in worktrees:
        if any(files.is_below(each.path, tree.sources) for each in leaking):
            # git has them, and they are redacted once more
            source_index.remove_locked(tree, HISTORY)
    for each in leaking:
        if each.kind == "derived" and files.is_file(each.path):
            files.remove(each.path)
            files.sync_folder(os.path.dirname(each.path))
    sessions = sorted({"", *(each.session for each in leaking if each.kind == "block")})
    for tree in worktrees:
        whole = tree.tier == labels.PROJECT
        for session in sessions if whole else [""]:
            _redact_blocks(tree, Place(tree if whole else None, None if whole else tree, session))
    for each in leaking:
        if each.kind in ("plain", "block"):  # of blocks: only those without a label
            data = logs.read_whole(each.path)
            text = None if data is None else files.decode(data)
            after = None if text is None else file_redaction.redact_file(text, each.form)
            if after is not None and after != text:
                private = store.private or each.path.startswith(f"{store.local}/")
                atomic.write(each.path, after, private=private)
        elif each.kind == "recall":
            recall.rewrite(each.path, lambda text: file_redaction.redact_file(text, "lines"))
    with writer.writing(store, place):
        journal.rewrite(store, lambda text: file_redaction.redact_file(text, "lines"))


def _redact_blocks(store: Store, place: Place) -> None:
    """Redact the blocks of a store, or of one of its sessions, as journalled edits.

    Edits from outside memfs are adopted: `journal.rewrite` needs files and journal to agree.
    """
    changes = []
    with writer.writing(store, place) as store_writer:
        for tier, label, path in blocks.paths(place):
            if (tier == labels.SESSION) != bool(place.session):
                continue
            try:
                text, version = store_writer.adopt_current(tier, label, path)
            except StoreError:  # too large for an edit: its file is rewritten afterwards
                continue
            if text is not None and redact(text) != text:
                after = redact(yaml_edit.drop_outdated(redact(text)))
                changes.append(Change(tier, label, path, text, after, OP, version + 1))
        if changes:
            store_writer.commit(changes, _BY)


def _find_all(place: Place, unread: list[str], stage: Stage) -> list[StoredSecret]:
    found = []
    listed = [each for store in place.stores() for each in _list_files(store)]
    tick = stage("looking through files", len(listed))
    for each in listed:
        try:
            found += [
                StoredSecret(each.path, *leak, each.kind != "foreign")
                for leak in _find_in_file(each)
            ]
        except OSError:
            unread.append(each.path)
        tick(1)
    return found


def _list_files(store: Store) -> list[StoreFile]:
    """List the files of a store, the committed ones in every worktree."""
    worktrees = [store, *inventory.list_worktrees(store)]
    committed = [each for tree in worktrees for each in inventory.list_committed(tree)]
    return [*committed, *inventory.local(store)]


def _find_in_file(each: StoreFile) -> list[file_redaction.FileSecret]:
    return file_redaction.find(files.decode(logs.read_whole(each.path) or b""), each.form)


def _scan_history(folder: str, found: list[CommittedSecret]) -> bool:
    if git.top_level(folder) is None:
        return True
    try:
        listed = commits.list_everywhere(folder, ".")
    except (TimeoutError, LookupError):
        return False
    deadline = time.monotonic() + _PATIENCE
    places = [each for each in listed if each.blob]  # else the file was removed
    blobs = list(dict.fromkeys(each.blob for each in places))
    known: dict[str, list[file_redaction.FileSecret]] = {}
    for at in range(0, min(len(blobs), _MOST_VERSIONS), _AT_ONCE):
        if time.monotonic() > deadline:
            break
        for blob, text in commits.read_blobs(folder, blobs[at : at + _AT_ONCE]).items():
            lines = text.startswith("{") and text.endswith("\n")
            known[blob] = file_redaction.find(text, "lines" if lines else "text")
    for each in places:
        kinds = dict.fromkeys((leak.type, leak.masked) for leak in known.get(each.blob, []))
        found += [CommittedSecret(each.id, git.prefix(folder) + each.path, *kind) for kind in kinds]
    return len(known) == len(blobs)
