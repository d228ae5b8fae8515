"""Every file of a store that can hold what people wrote, and what kind of file it is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memfs import files
from memfs.files import atomic, trees
from memfs.store import blocks, clock, journal, recall, store_paths
from memfs.store.store_paths import Store

if TYPE_CHECKING:
    from memfs.core.file_redaction import Form

# block: journalled; seen: what the user saw of a project's blocks; derived: can be deleted, and is
# made anew; foreign: not written by memfs.
Kind = Literal["block", "plain", "recall", "journal", "derived", "foreign"]
_OURS = ("archive/", "facts/", "static/", "prompts/", "config.yaml")
_BOOKKEEPING = ("heads.json", "token", ".gitignore", ".gitattributes")
_COUNTING = (".state.json", ".ids", "lock")
_NOT_USED = ("index", "sources", "aside/")  # indexes, and what version 0.2 put aside
_LOG = "/commits/log/"  # in the folder of indexes of sources: what commits say
_MOST_LEVELS = 3  # folders of blocks


@dataclass(frozen=True)
class StoreFile:
    """A file; `session` names the folder of the session a block belongs to."""

    path: str
    kind: Kind
    form: Form
    session: str = ""


def list_committed(store: Store) -> list[StoreFile]:
    """List the files of a store that git can have, without links and bookkeeping."""
    listed = trees.walk(store.root, top_too=False)
    found = (each for each in listed if not store_paths.is_local(each.name))
    return [file for each in found if (file := _classify_committed(each.path, each.name))]


def local(store: Store) -> list[StoreFile]:
    """List the files of a store's local folder, in the same way."""
    listed = trees.walk(store.local, top_too=False)
    return [file for each in listed if (file := _classify_local(each.path, each.name))]


def list_worktrees(store: Store) -> list[Store]:
    """List the stores of the other worktrees that share this one's journal."""
    trees = {entry.tree for entry in journal.read(store)} - {store.tree}
    roots = [(tree, store_paths.root_of_tree(store, tree)) for tree in sorted(trees)]
    return [
        Store(root, store.tier, store.local, tree, main=store.main)
        for tree, root in roots
        if root and store_paths.is_store(root)
    ]


def indexes(store: Store) -> list[str]:
    """List the folders of search indexes: each linked worktree has its own.

    Those of data sources are not among them: they hold nothing of the store.
    """
    if not files.is_folder(store.local):
        return []
    listed = sorted(files.entries(store.local))
    found = [name for name, is_folder in listed if is_folder and name.startswith("index")]
    return [f"{store.local}/{name}" for name in found]


def remove_indexes(store: Store) -> None:
    """Remove the indexes of a store: they are made anew when they are needed."""
    for path in indexes(store):
        gone = f"{path}.{clock.unique()}"
        atomic.rename(path, gone)
        trees.remove_whole(gone)
        files.sync_folder(os.path.dirname(path))


def _classify_committed(path: str, name: str) -> StoreFile | None:
    base = os.path.basename(name)
    if name in (".gitignore", ".gitattributes"):
        return None
    if name.startswith("blocks/") and name.endswith(blocks.SUFFIX):
        hidden = any(part.startswith(".") for part in name.split("/"))
        if not hidden and name.count("/") <= _MOST_LEVELS:
            return StoreFile(path, "block", "text")
    form: Form = "lines" if name.endswith(".jsonl") else "text"
    ours = name.startswith(_OURS) or (base.startswith(".") and base.endswith(".tmp"))
    return StoreFile(path, "plain" if ours else "foreign", form)


def _classify_local(path: str, name: str) -> StoreFile | None:
    base = os.path.basename(name)
    if name.startswith("sources") and _LOG in name and base.endswith(".jsonl"):
        return StoreFile(path, "derived", "lines")
    if base in _BOOKKEEPING or base.endswith(_COUNTING) or name.startswith(_NOT_USED):
        return None
    if name == "journal.jsonl":
        return StoreFile(path, "journal", "lines")
    if name.startswith("recall/") and name.endswith((recall.SUFFIX, recall.ASIDE)):
        return StoreFile(path, "recall", "lines")
    form: Form = "lines" if ".jsonl" in base else "json" if base.endswith(".json") else "text"
    if name.startswith("trusted/"):
        return None  # ids alone
    if name.startswith("team/") and base != "never.json":
        return None  # ids, and the token that is needed; titles follow recall
    if base == "shown.json" or name.startswith("installed/"):
        return StoreFile(path, "derived", form)
    parts = name.split("/")
    if parts[0] == "sessions" and base.endswith(blocks.SUFFIX) and not base.startswith("."):
        return StoreFile(path, "block", "text", parts[1])
    return StoreFile(path, "plain", form)
