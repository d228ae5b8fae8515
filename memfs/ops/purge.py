"""Find the secrets that stand in what is kept, and replace them by `[redacted:TYPE]` everywhere.

The same text is redacted in the same way wherever it stands: so the journal, once it is rewritten,
still says of every file what is in it. Whatever can be made anew is deleted first, under the locks
of those who would make it; a run that was killed is finished by running it again.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs import files, hosts
from memfs.context import sections
from memfs.core import label as labels
from memfs.core import leaks, yamlhead
from memfs.core.errors import StoreError
from memfs.core.records import Origin
from memfs.core.secrets import redact
from memfs.files import atomic, logs, trees
from memfs.memory import corpus, intake
from memfs.memory.flow import leaving
from memfs.store import (
    autocommit,
    blocks,
    clock,
    commits,
    facts,
    git,
    holdings,
    journal,
    lock,
    outcomes,
    recall,
    static,
    windows,
    writer,
)
from memfs.store.blocks import Place
from memfs.store.writer import Change

if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.store.holdings import Holding
    from memfs.store.layout import Store

OP = "purge"
_BY = Origin("user", reason="secrets redacted")
_MOST_VERSIONS = 5_000  # of files in git's history, the newest
_AT_ONCE = 100
_PATIENCE = 15.0  # seconds for them

# Whoever appends to a file that is written anew; in the order in which others take several.
_LOCKS = (
    corpus.LOCK, intake.LOCK, leaving.LOCK, facts.LOCK, static.LOCK, windows.LOCK, outcomes.LOCK,
)  # fmt: skip


@dataclass(frozen=True)
class Found:
    """A secret in a file. `ours`: the file is memfs's own, and can be redacted from here."""

    path: str
    line: int
    type: str
    masked: str
    ours: bool


@dataclass(frozen=True)
class Committed:
    """A secret that a commit brought into git's history."""

    commit: str
    path: str
    type: str
    masked: str


@dataclass(frozen=True)
class Looked:
    """Everything that was found, and what is out of reach.

    `unread` says what could not be looked through, or not to its end;
    `transcripts` the folders in which assistants keep what was said here, which are theirs.
    """

    found: tuple[Found, ...]
    commits: tuple[Committed, ...]
    unread: tuple[str, ...]
    transcripts: tuple[str, ...]


@dataclass(frozen=True)
class Purged:
    """What was redacted, and what is left: secrets in files of others or of other projects.

    `note` says why the redaction was not committed or synced, where each edit should be.
    """

    done: tuple[Found, ...]
    left: tuple[Found, ...]
    note: str = ""


def find(place: Place, home: str, tick: Callable[[int], object]) -> Looked:
    """Look through every file of the stores, telling `tick` of each, and git's history of them."""
    place = blocks.as_is(place)
    brought: list[Committed] = []
    unread: list[str] = []
    found = _find(place, unread, tick)
    for store in place.stores():
        if not _history(store, brought):
            unread.append(f"the git history of {store.root}")
    top = place.home.top
    kept = {
        os.path.dirname(path) for n in hosts.NAMES for path in hosts.get(n).transcripts(home, top)
    }
    return Looked(tuple(found), tuple(brought), tuple(unread), tuple(sorted(kept)))


def run(place: Place) -> Purged:
    """Redact everything that is found in files of ours."""
    place = blocks.as_is(place)
    stores = sorted(place.stores(), key=lambda store: os.path.realpath(store.local))
    with ExitStack() as stack:
        for store in stores:
            for name in _LOCKS:
                stack.enter_context(lock.hold(store, name=name))
        done = [each for each in _find(place, [], lambda _: None) if each.ours]
        for store in stores:
            _purge(store, place)
    paths = list(dict.fromkeys(each.path for each in done))
    notes = [_committed(store, place, paths) for store in stores]
    notes.append(sections.edited(place, {store.tier for store in stores}) if done else "")
    left = _find(place, [], lambda _: None)
    return Purged(tuple(done), tuple(left), "; ".join(note for note in notes if note))


def _committed(store: Store, place: Place, paths: list[str]) -> str:
    """Commit what was redacted of a store, if each edit is to be; return why not, or ""."""
    committed = {each.path for each in holdings.committed(store)}
    mine = [path for path in paths if path in committed]
    return autocommit.written(place, store, mine, OP, "memory: secrets redacted", _BY)


def _purge(store: Store, place: Place) -> None:
    trees = [store, *holdings.worktrees(store)]
    listed = _listed(store, trees)
    leaking = [each for each in listed if each.kind != "foreign" and _leaks(each)]
    if not leaking:
        return
    for path in holdings.indexes(store):
        _remove_folder(path)
    for each in leaking:
        if each.kind == "derived":
            files.remove(each.path)
            files.sync_folder(os.path.dirname(each.path))
    sessions = sorted({"", *(each.session for each in leaking if each.kind == "block")})
    for tree in trees:
        whole = tree.tier == labels.PROJECT
        for session in sessions if whole else [""]:
            _blocks(tree, Place(tree if whole else None, None if whole else tree, session))
    for each in leaking:
        if each.kind in ("plain", "block"):  # of blocks, those that have no label
            _rewrite(each, private=store.private or each.path.startswith(f"{store.local}/"))
        elif each.kind == "recall":
            recall.rewrite(each.path, lambda text: leaks.cleaned(text, "lines"))
    with writer.writing(store, place):
        journal.rewrite(store, lambda text: leaks.cleaned(text, "lines"))


def _blocks(store: Store, place: Place) -> None:
    """Redact the blocks of a store, or of one of its sessions, as edits that the journal holds.

    What was edited outside memfs is adopted: `journal.rewrite` wants files and journal to agree.
    """
    changes = []
    with writer.writing(store, place) as made:
        for tier, label, path in blocks.paths(place):
            if (tier == labels.SESSION) != bool(place.session):
                continue
            try:
                text, version = made.settle(tier, label, path)
            except StoreError:  # too large for an edit: its file is rewritten afterwards
                continue
            if text is not None and redact(text) != text:
                after = redact(yamlhead.stamp(redact(text), version + 1, clock.now(), "user"))
                changes.append(Change(tier, label, path, text, after, OP, version + 1))
        if changes:
            made.commit(changes, _BY)


def _rewrite(each: Holding, *, private: bool) -> None:
    data = logs.read_whole(each.path)
    text = None if data is None else files.decode(data)
    after = None if text is None else leaks.cleaned(text, each.form)
    if after is not None and after != text:
        atomic.write(each.path, after, private=private)


def _remove_folder(path: str) -> None:
    """Remove an index: first its name, so that nobody opens half of one."""
    gone = f"{path}.{clock.unique()}"
    atomic.rename(path, gone)
    trees.remove_whole(gone)
    files.sync_folder(os.path.dirname(path))


def _find(place: Place, unread: list[str], tick: Callable[[int], object]) -> list[Found]:
    found = []
    for store in place.stores():
        for each in _listed(store, [store, *holdings.worktrees(store)]):
            try:
                found += [_found(each, leak) for leak in _leaks(each)]
            except OSError:
                unread.append(each.path)
            tick(1)
    return found


def _found(each: Holding, leak: leaks.Leak) -> Found:
    return Found(each.path, *leak, each.kind != "foreign")


def _listed(store: Store, trees: list[Store]) -> list[Holding]:
    """List what is in a store, the committed part in every worktree."""
    committed = [each for tree in trees for each in holdings.committed(tree)]
    return [*committed, *holdings.local(store)]


def _leaks(each: Holding) -> list[leaks.Leak]:
    return leaks.find(files.decode(logs.read_whole(each.path) or b""), each.form)


def _history(store: Store, found: list[Committed]) -> bool:
    """Look through what git keeps of a store, newest first; tell whether that was all of it."""
    if git.top_level(store.root) is None:
        return True
    try:
        listed = commits.everywhere(store.root, ".")
    except (TimeoutError, LookupError):
        return False
    deadline = time.monotonic() + _PATIENCE
    places = [each for each in listed if each.blob]  # else the file was removed
    blobs = list(dict.fromkeys(each.blob for each in places))
    known: dict[str, list[leaks.Leak]] = {}
    for at in range(0, min(len(blobs), _MOST_VERSIONS), _AT_ONCE):
        if time.monotonic() > deadline:
            break
        for blob, text in commits.texts(store.root, blobs[at : at + _AT_ONCE]).items():
            lines = text.startswith("{") and text.endswith("\n")
            known[blob] = leaks.find(text, "lines" if lines else "text")
    for each in places:
        kinds = dict.fromkeys((leak.type, leak.masked) for leak in known.get(each.blob, []))
        found += [Committed(each.id, git.prefix(store.root) + each.path, *kind) for kind in kinds]
    return len(known) == len(blobs)
