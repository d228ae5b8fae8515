"""Commits of memory files, where the configuration asks for them: our paths and nothing else."""

from __future__ import annotations

import fnmatch
import os

from memfs.core import label as labels
from memfs.core.errors import StoreError
from memfs.core.escaping import make_plain
from memfs.core.privacy import storable
from memfs.core.records import Origin
from memfs.core.settings import Settings
from memfs.store import commit_writer, config, git, journal, tracked_files
from memfs.store.blocks import Place
from memfs.store.store_paths import Store
from memfs.store.writer import Change

EDIT, SESSION = "edit", "session"
_OURS = ("blocks", "archive", "facts", "static", "config.yaml", ".gitignore", ".gitattributes")
_BUSY = {  # unfinished operations of git, by the file that marks each
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "BISECT_LOG": "a bisection",
}


def commit_edit(place: Place, changes: list[Change], origin: Origin) -> str:
    """Commit an edit if `git.commit` is `edit`; return why that failed, or ""."""
    notes = []
    for store in place.stores():
        mine = [
            change
            for change in changes
            if change.tier != labels.SESSION and place.store(change.tier).root == store.root
        ]
        settings = _load_settings(place, store)
        if mine and settings.get("git.commit") == EDIT:
            names = ", ".join(change.label for change in mine)
            ops = list(dict.fromkeys(change.op for change in mine))
            subject = origin.reason or f"memory: {' and '.join(ops)} {names}"
            message = _format_message(subject, [], ops, origin)
            paths = [os.path.relpath(change.path, store.root) for change in mine]
            notes.append(_commit(store, paths, message, settings))
    return "; ".join(note for note in notes if note)


def commit_passage(
    place: Place, store: Store, path: str, origin: Origin, verb: str = "archive"
) -> str:
    """Commit what was done to a passage if `git.commit` is `edit`; return why not, or ""."""
    subject = origin.reason or f"memory: {verb} a passage"
    return commit_files(place, store, [path], verb, subject, origin)


def commit_files(
    place: Place, store: Store, paths: list[str], op: str, subject: str, origin: Origin
) -> str:
    """Commit files that one operation wrote, as `commit_passage` does."""
    settings = _load_settings(place, store)
    if not paths or settings.get("git.commit") != EDIT:
        return ""
    names = [os.path.relpath(path, store.root) for path in paths]
    return _commit(store, names, _format_message(subject, [], [op], origin), settings)


def commit_session(place: Place, origin: Origin) -> str:
    """Commit a session's changes if `git.commit` is `session`; return why that failed, or ""."""
    notes = []
    for store in place.stores():
        settings = _load_settings(place, store)
        if settings.get("git.commit") == SESSION:
            session = storable(origin.session)  # as the journal and the trailer have it
            edits = [
                f"- {entry.op} {entry.label}" + (f": {entry.reason}" if entry.reason else "")
                for entry in journal.read(store)
                if entry.session in (origin.session, session)
                and entry.tree == store.tree
                and entry.tier == store.tier
            ]
            subject = f"memory: session {session[:8]}"
            message = _format_message(subject, edits, [SESSION], origin)
            notes.append(_commit(store, list(_OURS), message, settings))
    return "; ".join(note for note in notes if note)


def _load_settings(place: Place, store: Store) -> Settings:
    """Load the settings of a store; a project's do not apply to the user's store."""
    return config.load(Place(None, store) if store.tier == labels.USER else place)


def _format_message(subject: str, body: list[str], ops: list[str], origin: Origin) -> str:
    first, *rest = [line.rstrip() for line in make_plain(storable(subject)).split("\n")] or [""]
    who = origin.actor + (f" ({origin.host})" if origin.host else "")
    trailers = [f"Memfs-Op: {op}" for op in ops] + [f"Memfs-Actor: {who}"]
    if origin.session:
        trailers.append(f"Memfs-Session: {storable(origin.session)}")
    paragraphs = [first, "\n".join(rest).strip(), make_plain(storable("\n".join(body)))]
    last = "\n".join(" ".join(make_plain(line).split()) for line in trailers)
    return "\n\n".join([part for part in paragraphs if part] + [last]) + "\n"


def _commit(store: Store, paths: list[str], message: str, settings: Settings) -> str:
    """Commit `paths` (relative to the store) as they are; return why that failed, or ""."""
    known = tracked_files.read_committed(store.root, paths)
    changed = [] if known is None else tracked_files.list_differing(store.root, paths, known)
    if not changed or known is None:
        return ""
    head = git.checked_out(store.root)
    why = "git does not answer" if head is None else _find_hindrance(head, settings)
    if head is not None and not why:
        try:
            why = commit_writer.commit(store.root, head, changed, known, message)
        except StoreError as error:  # the edit stands
            why = error.message
    return f"not committed: {why}" if why else ""


def _find_hindrance(head: git.GitHead, settings: Settings) -> str:
    """Return why nothing may be committed now, or ""."""
    for name, what in _BUSY.items():
        if os.path.exists(f"{head.folder}/{name}"):
            return f"{what} is going on"
    branch = head.branch.removeprefix("refs/heads/")
    if not branch:
        return "no branch is checked out"
    protected = settings.get("git.protected")
    patterns = [str(name) for name in protected] if isinstance(protected, list) else []
    if any(fnmatch.fnmatchcase(branch, pattern) for pattern in patterns):
        return f"{branch} is protected (git.protected)"
    return ""
