"""Find the secrets that stand in what is kept, and replace them by `[redacted:TYPE]` everywhere.

The same text is redacted in the same way wherever it stands: so the journal, once it is rewritten,
still says of every file what is in it. Whatever can be made anew is deleted first, under the locks
of those who would make it; a run that was killed is finished by running it again.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs import hosts
from memfs.core import frontmatter, leaks, yamlhead
from memfs.core import label as labels
from memfs.core.records import Origin
from memfs.core.secrets import redact
from memfs.memory import corpus, intake
from memfs.store import blocks, clock, files, git, holdings, journal, lock, recall, writer
from memfs.store.blocks import Place
from memfs.store.writer import Change

if TYPE_CHECKING:
    from collections.abc import Callable

    from memfs.store.holdings import Holding
    from memfs.store.layout import Store

OP = "purge"
_ANY_SIZE = 1 << 40
_MOST_VERSIONS = 2_000  # of files in git's history, the newest; each costs a few milliseconds
_PATIENCE = 15.0  # seconds for them


@dataclass(frozen=True)
class Found:
    """A secret in a file. `ours`: memfs wrote the file, and can write it anew."""

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
    """What was redacted, and what is left: secrets in files of others."""

    done: tuple[Found, ...]
    left: tuple[Found, ...]


def find(place: Place, home: str, tick: Callable[[int], object]) -> Looked:
    """Look through every file of the stores, telling `tick` of each, and git's history of them."""
    commits: list[Committed] = []
    unread: list[str] = []
    found = _find(place, unread, tick)
    for store in _stores(place):
        if not _history(store, commits):
            unread.append(f"the git history of {store.root}")
    top = place.home.top
    kept = {
        os.path.dirname(path) for n in hosts.NAMES for path in hosts.get(n).transcripts(home, top)
    }
    return Looked(tuple(found), tuple(commits), tuple(unread), tuple(sorted(kept)))


def run(place: Place) -> Purged:
    """Redact everything that is found in files of ours."""
    stores = sorted(_stores(place), key=lambda store: os.path.realpath(store.local))
    done: list[Found] = []
    with ExitStack() as stack:
        for store in stores:
            for name in (corpus.LOCK, intake.LOCK):
                stack.enter_context(lock.hold(store, name=name))
        for store in stores:
            done += _purge(store, place)
    return Purged(tuple(done), tuple(_find(place, [], lambda _: None)))


def _purge(store: Store, place: Place) -> list[Found]:
    trees = [store, *holdings.worktrees(store)]
    found = [(each, leak) for each in _listed(store, trees) for leak in _leaks(each)]
    leaking = list(dict.fromkeys(each for each, _ in found if each.kind != "foreign"))
    if not leaking:
        return []
    for path in holdings.indexes(store):
        _remove_folder(path)
    for each in leaking:
        if each.kind == "derived":
            files.remove(each.path)
            files.sync_folder(os.path.dirname(each.path))
    sessions = sorted({"", *(each.session for each in leaking if each.kind == "block")})
    for tree in trees:
        for session in sessions if tree.tier == labels.PROJECT else [""]:
            whole = tree.tier == labels.PROJECT
            _blocks(tree, Place(tree if whole else None, None if whole else tree, session))
    for each in leaking:
        if each.kind in ("plain", "block"):  # of blocks, those that have no label
            _rewrite(each, private=store.private or each.path.startswith(f"{store.local}/"))
        elif each.kind == "recall":
            recall.rewrite(each.path, lambda text: leaks.cleaned(text, "lines"))
    with writer.writing(store, place):
        journal.rewrite(store, lambda text: leaks.cleaned(text, "lines"))
    return [_found(each, leak) for each, leak in found if each.kind != "foreign"]


def _blocks(store: Store, place: Place) -> None:
    """Redact the blocks of a store, or of one of its sessions, as edits that the journal holds.

    What was edited outside memfs is adopted: `journal.rewrite` wants files and journal to agree.
    """
    changes = []
    with writer.writing(store, place) as made:
        for tier, label, path in blocks.paths(place):
            if (tier == labels.SESSION) != bool(place.session):
                continue
            text, version = made.settle(tier, label, path)
            if text is not None and redact(text) != text:
                after = _stamped(redact(text), version + 1)
                changes.append(Change(tier, label, path, text, after, OP, version + 1))
        if changes:
            made.commit(changes, Origin("user", reason="secrets redacted"))


def _stamped(text: str, version: int) -> str:
    head, body = frontmatter.split(text)
    managed = {"version": version, "updated_at": clock.now(), "updated_by": "user"}
    return redact(yamlhead.write(head, managed, frontmatter.line_end(text)) + body)


def _rewrite(each: Holding, *, private: bool) -> None:
    text = files.read(each.path, cap=_ANY_SIZE)
    after = None if text is None else leaks.cleaned(text, each.form)
    if after is not None and after != text:
        files.write(each.path, after, private=private)


def _remove_folder(path: str) -> None:
    """Remove an index: first its name, so that nobody opens half of one."""
    gone = f"{path}.{clock.unique()}"
    os.replace(path, gone)
    shutil.rmtree(gone)
    files.sync_folder(os.path.dirname(path))


def _find(place: Place, unread: list[str], tick: Callable[[int], object]) -> list[Found]:
    found = []
    for store in _stores(place):
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
    return leaks.find(files.read(each.path, cap=_ANY_SIZE) or "", each.form)


def _stores(place: Place) -> list[Store]:
    return list({store.root: store for _, store in place.tiers()}.values())


def _history(store: Store, found: list[Committed]) -> bool:
    """Look through what git keeps of a store, newest first; tell whether that was all of it."""
    top = git.top_level(store.root)
    if top is None:
        return True
    listed = git.run(
        store.root, "log", "--all", "-m", "--raw", "--no-abbrev", "--no-renames", "--format=%H",
        "--", ".",
    )  # fmt: skip
    if listed is None:  # it takes too long, or there is no commit yet
        return git.run(store.root, "rev-parse", "--verify", "-q", "HEAD") is None
    deadline = time.monotonic() + _PATIENCE
    known: dict[str, list[leaks.Leak]] = {}
    commit = ""
    for line in listed.split("\n"):
        if not line.startswith(":"):
            commit = line or commit
            continue
        fields, _, path = line.partition("\t")
        blob = fields.split()[3]
        if not blob.strip("0"):  # the file was removed
            continue
        if blob not in known:
            if len(known) >= _MOST_VERSIONS or time.monotonic() > deadline:
                return False
            text = git.run(store.root, "cat-file", "blob", blob) or ""
            form: leaks.Form = "lines" if path.endswith(".jsonl") else "text"
            known[blob] = leaks.find(text, form)
        kinds = dict.fromkeys((leak.type, leak.masked) for leak in known[blob])
        found += [Committed(commit, path, *kind) for kind in kinds]
    return True
