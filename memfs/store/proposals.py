"""What a model proposed or reviewed: drafts of a store, until a person decides, and reviews."""

import json
import os
import time
from dataclasses import asdict, dataclass, replace
from typing import TypeVar

from memfs import files
from memfs.core import file_redaction
from memfs.core import label as labels
from memfs.core.errors import UNREADABLE
from memfs.files import atomic, trees
from memfs.secrets import redact
from memfs.store import archive, blocks, clock, commits, git, local_folder, quarantine, store_paths
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

REVIEW_FOLDER = "reviews"

FOLDER = "drafts"
BRANCH = "memfs/reflect-"
_RECORD = "proposal.json"
_ABANDONED = 6 * 3600  # seconds
_NOBODY = "memfs <memfs@localhost>"
Form = TypeVar("Form")


@dataclass(frozen=True)
class ProposedChange:
    """A block that a draft changes; None stands for no block."""

    tier: str
    label: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class ProposedPassage:
    """A passage that a draft adds."""

    text: str
    importance: int
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Proposal:
    """What a draft would change: made by which model, of which sessions.

    `top` is the folder of the worktree that it is for, `branch` git's, or "". `said` is what the
    model said at the end, `problem` why it was broken off.
    """

    id: str
    at: str
    model: str
    sessions: tuple[str, ...]
    changes: tuple[ProposedChange, ...]
    passages: tuple[ProposedPassage, ...]
    top: str = ""
    branch: str = ""
    said: str = ""
    problem: str = ""


class StoreDraft:
    """A draft that is being made. `place` is where the model works."""

    def __init__(self, place: Place) -> None:
        self._original = place
        self.id = clock.unique()
        self.branch = ""
        self._folder = _get_folder(place.home, self.id)
        local_folder.make(place.home)
        _sweep(place.home)
        files.make_folder(self._folder, private=True)
        project = self._copy_project(place.project) if place.project else None
        user = self._copy_store(place.user, f"{self._folder}/user") if place.user else None
        self.place = Place(project, user)
        self._texts = _read_texts(self.place)

    def save_proposal(
        self, model: str, sessions: tuple[str, ...], said: str, problem: str
    ) -> Proposal | None:
        """Save and return the proposal of the draft's changes; None if there are none."""
        now = _read_texts(self.place)
        keys = sorted({*now, *self._texts})
        texts = ((key, self._texts.get(key), now.get(key)) for key in keys)
        changes = tuple(ProposedChange(*key, old, new) for key, old, new in texts if old != new)
        archived = [archive.read(path) for s in self.place.stores() for path in archive.sources(s)]
        passages = tuple(ProposedPassage(p.text, p.importance, p.tags) for p in archived if p)
        if not changes and not passages:
            return None
        self._commit(model, sessions)
        what = (model, sessions, changes, passages, self._original.home.top, self.branch)
        found = Proposal(self.id, clock.now(), *what, redact(said), redact(problem))
        atomic.write(f"{self._folder}/{_RECORD}", json.dumps(asdict(found), indent=1), private=True)
        return found

    def discard(self) -> None:
        """Remove the draft with its worktree and branch."""
        remove(self._original.home, self.id, self.branch)

    def _copy_project(self, store: Store) -> Store:
        top = git.top_level(store.top)
        tree = f"{self._folder}/tree"
        branch = f"{BRANCH}{self.id}"
        if top and git.get_head_commit(store.root) and not git.foreign_part(top):
            how = ("--no-checkout", "--no-track", "-q", "-b", branch)
            added = git.run(top, "worktree", "add", *how, tree)
            if added is not None and git.run(tree, "read-tree", "HEAD") is not None:
                self.branch = branch
                within = os.path.relpath(store.root, os.path.realpath(top))
                return self._copy_store(store, f"{tree}/{os.path.dirname(within)}".rstrip("/"))
        return self._copy_store(store, tree)

    def _copy_store(self, store: Store, top: str) -> Store:
        """Copy the blocks and the configuration of a store, without secrets, and no passages."""
        root = f"{top}/{store_paths.NAME}"
        files.make_folder(root, private=True)
        copy = Store(root, store.tier, f"{self._folder}/local-{store.tier}")
        local_folder.make(copy)
        for name in ("config.yaml", ".gitignore"):
            text = files.read(quarantine.path_of(store, name))
            if text is not None:
                atomic.write(f"{root}/{name}", redact(text), private=True, durable=False)
        for tier, label, path in blocks.paths(_make_place(store)):
            target = blocks.path_of(_make_place(copy), tier, label)
            files.make_folder(os.path.dirname(target), private=True)
            text = redact(files.read(path) or "")
            atomic.write(target, text, private=True, durable=False)
        return copy

    def _commit(self, model: str, sessions: tuple[str, ...]) -> None:
        """Commit the project's part on its branch, for people to look at."""
        store = self.place.project
        if not self.branch or store is None:
            return
        from memfs.store import commit_writer  # what only lists proposals needs no writer

        paths = ["blocks", "archive"]
        known = commits.read_committed(store.root, paths) or {}
        changed = [
            name
            for name in commits.list_differing(store.root, paths, known)
            if not name.startswith("archive/") or files.is_file(f"{store.root}/{name}")
        ]  # the store's passages were not copied
        message = f"memory: reflect on {len(sessions)} sessions, by {model}\n"
        head = git.checked_out(store.root)
        if head is not None and changed:
            commit_writer.commit(store.root, head, changed, known, message, _NOBODY)


def list_pending(store: Store) -> list[Proposal]:
    """List the proposals that nobody decided on, the oldest first."""
    some = (
        _load(f"{_get_folder(store, name)}/{_RECORD}", Proposal) for name in _list_drafts(store)
    )
    return [found for found in some if found and found.top == store.top]


def remove(store: Store, ident: str, branch: str) -> None:
    """Remove a draft, with its worktree and its branch."""
    folder = _get_folder(store, ident)
    top = git.top_level(store.top) if branch.startswith(BRANCH) else None
    trees.remove(folder)
    if top and not git.foreign_part(top):
        git.run(top, "worktree", "prune")
        git.run(top, "update-ref", "-d", f"refs/heads/{branch}")


def _sweep(store: Store) -> None:
    """Remove drafts of killed runs: hours old and without a proposal."""
    for name in _list_drafts(store):
        found = files.status(_get_folder(store, name))
        old = found is not None and time.time() - found.st_mtime > _ABANDONED
        if old and not files.is_file(f"{_get_folder(store, name)}/{_RECORD}"):
            remove(store, name, f"{BRANCH}{name}")


def _list_drafts(store: Store) -> list[str]:
    folder = f"{store.local}/{FOLDER}"
    if not files.is_folder(folder):
        return []
    return sorted(name for name, is_folder in files.entries(folder) if is_folder)


def _get_folder(store: Store, ident: str) -> str:
    return f"{store.local}/{FOLDER}/{ident}"


def _make_place(store: Store) -> Place:
    return Place(None, store) if store.private else Place(store, None)


def _read_texts(place: Place) -> dict[tuple[str, str], str]:
    return {
        (tier, label): files.read(path) or ""
        for tier, label, path in blocks.paths(place)
        if tier != labels.SESSION
    }


def _load(path: str, form: type[Form]) -> Form | None:
    import msgspec  # where there is something to read

    try:
        return msgspec.convert(json.loads(files.read(path) or ""), form)
    except UNREADABLE:
        return None


@dataclass(frozen=True)
class SessionReview:
    """A review that was made: by which model, of how many messages, and what it saved.

    `saved` are (label, operation, version); `archived` counts passages. `problem` says why it was
    broken off, "" if it was not; `told`: the person was told of it.
    """

    session: str
    host: str
    at: str
    model: str
    messages: int
    saved: tuple[tuple[str, str, int], ...] = ()
    archived: int = 0
    text: str = ""
    problem: str = ""
    told: bool = False

    def render(self) -> str:
        """Describe the review in one line."""
        what = [f"{label} ({op}, version {version})" for label, op, version in self.saved]
        if self.archived:
            what.append(f"{self.archived} passages" if self.archived > 1 else "1 passage")
        done = ", ".join(what) or "nothing"
        line = f"the review of session {self.session} by {self.model} saved {done}"
        return f"{line}, then failed: {self.problem}" if self.problem else line


def write_review(store: Store, found: SessionReview) -> None:
    """Keep a review on file, without secrets that the model repeated."""
    folder = f"{store.local}/{REVIEW_FOLDER}"
    local_folder.make(store)
    files.make_folder(folder, private=True)
    path = f"{folder}/{store_paths.file_name(found.session)}.json"
    record = file_redaction.redact_record(asdict(found))
    atomic.write(path, json.dumps(record, indent=1), private=True)


def list_reviews(store: Store) -> list[SessionReview]:
    """List the reviews on file, the newest first."""
    folder = f"{store.local}/{REVIEW_FOLDER}"
    names = [name for name in files.names(folder) if name.endswith(".json")]
    found = filter(None, (_load(f"{folder}/{name}", SessionReview) for name in names))
    return sorted(found, key=lambda each: (each.at, each.session), reverse=True)


def take_news(store: Store) -> list[str]:
    """Return a line for each review that was not announced yet, and mark it as announced."""
    lines = []
    for each in list_reviews(store):
        if not each.told:
            lines.append(each.render())
            write_review(store, replace(each, told=True))
    return lines
