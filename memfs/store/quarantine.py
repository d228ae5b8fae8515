"""What is held back of a project's store: others changed it, and its user has not looked yet.

Where changes are held back (`trust.pulled: hold`), a file that others changed or removed is read
from a copy of the text that its user accepted last; one that is new is not there at all. What lists
the files of a store asks here, so that it holds for every way out. The copies are in the user's
store: what is in a project's could be another's. Hot path.
"""

import os

from memfs import files
from memfs.core.errors import StoreError
from memfs.store import store_paths, worktrees
from memfs.store.store_paths import QuarantineDecision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memfs.store.store_paths import Store


def map_copies(store: "Store", *, anew: bool = False) -> "Mapping[str, str]":
    """Map paths in a store, relative to it, to the copies that are read instead, "" for none.

    That is decided once for an open store, after a review of what came with git. `anew`: it is
    decided again, before something is written: a pull may be running. Raises `StoreError` where git
    failed.
    """
    if store.private or store.as_is:
        return {}
    found = store.decision
    if anew or found is None or not found.is_current(store.root):
        found = store.decision = _decide(store)
    if found.error is not None:
        raise found.error
    return found.copies


def _decide(store: "Store") -> QuarantineDecision:
    if not _may_hold(store):
        return QuarantineDecision(None, {})
    from memfs.store import incoming_changes  # with git

    sign = worktrees.index_sign(store.root)
    try:
        return QuarantineDecision(sign, incoming_changes.list_held(store))
    except StoreError as error:
        return QuarantineDecision(sign, {}, error)


def _may_hold(store: "Store") -> bool:
    """Tell cheaply whether changes of others may be held back."""
    if os.environ.get(store_paths.HOLDING):
        return True
    configs = (
        f"{store.root}/{store_paths.CONFIG}",
        f"{store_paths.user_root()}/{store_paths.CONFIG}",
    )
    return any("hold" in (files.read(path) or "") for path in configs) or store_paths.held_before(
        store
    )


def list_served(store: "Store", folder: str, paths: "Iterable[str]") -> list[tuple[str, str]]:
    """List (path, path to read instead) of the readable files in a folder, sorted by path."""
    try:
        instead = map_copies(store)
    except StoreError:  # nobody knows what is whose: a session is told so when it starts
        return []
    found = {path: path for path in paths}
    for name, copy in instead.items():
        path = f"{store.root}/{name}"
        if path.startswith(f"{folder}/"):
            found[path] = copy
    return [(path, copy) for path, copy in sorted(found.items()) if copy]


def path_of(store: "Store", name: str) -> str:
    """Return the path to read for a file of a store, "" for one that must not be read."""
    try:
        return map_copies(store).get(name, f"{store.root}/{name}")
    except StoreError:
        return ""


def check_writable(store: "Store", path: str) -> None:
    """Raise `StoreError` for a quarantined file: an edit would change another text."""
    name = path.removeprefix(f"{store.root}/")
    instead = map_copies(store, anew=True)
    if name in instead or path in instead.values():
        name = next(each for each, copy in instead.items() if path == copy or each == name)
        raise StoreError(
            f"others changed {name}, and that is held back: nobody edits it until you have looked",
            "look at what they did, and accept it: memfs trust",
        )
