"""What is held back of a project's store: others changed it, its user has not looked. Hot path.

Such a file is read from a copy of the text that its user accepted last, in the user's store.
"""

import os
import time

from memfs import files
from memfs.core.errors import Remedy, StoreError
from memfs.store import store_paths, worktrees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memfs.store.store_paths import Store

_LONGEST = 1.0  # seconds that a decision counts in a store that stays open


def map_copies(store: "Store", *, anew: bool = False) -> "Mapping[str, str]":
    """Map paths in a store, relative to it, to the copies that are read instead, "" for none."""
    if store.private or store.as_is:
        return {}
    until, sign, found = store.decision
    # A pull writes files before git's index, and may stop between: so time counts, too.
    is_old = anew or time.monotonic() >= until
    if is_old or (sign is not None and sign != worktrees.index_sign(store.root)):
        sign, found = _decide(store)
        store.decision = time.monotonic() + _LONGEST, sign, found
    if isinstance(found, StoreError):
        raise found
    return found


def _decide(store: "Store") -> "tuple[str | None, Mapping[str, str] | StoreError]":
    """Return git's sign (None where nothing is held back), and the copies or git's error."""
    if not _may_hold(store):
        return None, {}
    from memfs.store import incoming_changes  # with git

    sign = worktrees.index_sign(store.root)
    try:
        return sign, incoming_changes.list_held(store)
    except StoreError as error:
        return sign, error


def _may_hold(store: "Store") -> bool:
    """Tell cheaply whether changes of others may be held back."""
    if os.environ.get(store_paths.HOLDING):
        return True
    roots = (store.root, store_paths.user_root())
    texts = (files.read(f"{root}/{store_paths.CONFIG}") or "" for root in roots)
    return any("hold" in text for text in texts) or store_paths.held_before(store)


def list_files(
    store: "Store", folder: str, suffix: str, levels: int | None = None
) -> list[tuple[str, str]]:
    """List the files with a suffix in a folder of a store, as `list_served`."""
    from memfs.files import trees  # a quiet prompt lists blocks alone

    walked = trees.walk(f"{store.root}/{folder}", levels=levels or trees.DEEPEST)
    served = list_served(store, folder, [each.name for each in walked])
    return [(name, path) for name, path in served if name.endswith(suffix)]


def list_served(store: "Store", folder: str, names: "Iterable[str]") -> list[tuple[str, str]]:
    """List (name, path to read) of the readable files in a folder of a store, sorted.

    `names` are those on the disk, relative to the folder.
    """
    try:
        copies = map_copies(store)
    except StoreError:  # nobody knows what is whose: a session is told so when it starts
        return []
    found = {name: f"{store.root}/{folder}/{name}" for name in names}
    for name, copy in copies.items():
        if name.startswith(f"{folder}/"):
            found[name.removeprefix(f"{folder}/")] = copy
    return [(name, path) for name, path in sorted(found.items()) if path]


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
            f"cannot edit {name}: changes by others are waiting for review", Remedy("{trust}")
        )
