"""Checks that a project's `local/` was made by memfs on this machine, for this user. Hot path.

It holds a random token, which the user's store knows. One without a known token is not used, read
or changed: this user's is `local-2` beside it, then.
"""

import os

from memfs import files
from memfs.core import label as labels
from memfs.core.errors import NotFoundError
from memfs.files import atomic
from memfs.store import store_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.store.store_paths import Store

_ASIDE = f"{store_paths.LOCAL}/aside"  # where version 0.2 put local folders of others


def make(store: "Store") -> None:
    """Make the local folder: private, and ignored by git whatever the project's rules are."""
    ignore = f"{store.local}/.gitignore"
    if files.is_file(ignore):
        return
    is_new = not files.is_folder(store.local)
    files.make_folder(store.local, private=True)
    atomic.write(ignore, "*\n", private=True, durable=False)
    if is_new and store.tier == labels.PROJECT:
        claim_folder(store)


def claim_folder(store: "Store") -> str:
    """Give a local folder that was made here its token, and return it; one that has one keeps it.

    Raises `OSError` where the user's store cannot be written.
    """
    token = store_paths.read_token(store.local)
    if not token or store_paths.find_token_folder(token) is None:
        token = os.urandom(16).hex()
        store_paths.note_token(store.local, token)
        atomic.write(f"{store.local}/{store_paths.TOKEN}", token, private=True)
    return token


def list_projects() -> list[str]:
    """List the folders of the projects that have a store whose local folder was made here."""
    folder = f"{store_paths.user_root()}/{store_paths.MADE}"
    known = (files.read(f"{folder}/{name}") or "" for name in files.names(folder))
    tops = {os.path.dirname(os.path.dirname(local)) for local in known if local}
    return sorted(top for top in tops if store_paths.is_store(f"{top}/{store_paths.NAME}"))


def disown_folder(store: "Store") -> None:
    """Forget the token of a local folder: it counts as somebody else's from now on."""
    token = store_paths.read_token(store.local)
    if token:
        files.remove(f"{store_paths.user_root()}/{store_paths.MADE}/{token}")


def find_unused(store: "Store") -> list[str]:
    """List the local folders in a store that are not used, by their paths in the store."""
    names = [store_paths.LOCAL, *store_paths.list_numbered(store.main)]
    names += [f"{_ASIDE}/{name}" for name in store_paths.list_folders(f"{store.main}/{_ASIDE}")]
    paths = {name: f"{store.main}/{name}" for name in names}
    return [name for name, path in paths.items() if files.is_folder(path) and path != store.local]


def adopt_folder(store: "Store", name: str) -> str:
    """Use another local folder of a store (see `find_unused`), at its user's request.

    Returns where the folder is that was used until now. A kill at any point leaves each folder
    whole, and one of this user's in use. Raises `NotFoundError`.
    """
    unused = find_unused(store)
    if name not in unused:
        hint = f"choose one of {', '.join(unused)}" if unused else ""
        raise NotFoundError(
            f"{store.main} has no local folder '{name}' besides the one in use", hint
        )
    usual, chosen = f"{store.main}/{store_paths.LOCAL}", f"{store.main}/{name}"
    before = store.local
    if chosen != usual:
        if os.path.lexists(usual):
            free = store_paths.find_free_local(usual)
            atomic.rename(usual, free)
            if before == usual:
                before = free
                store_paths.note_token(free, store_paths.read_token(free))
            chosen = chosen.replace(f"{usual}/", f"{free}/")
        atomic.rename(chosen, usual)
    # Homes that share a project (a container and its host) share the folder from now on.
    token = store_paths.read_token(usual) or os.urandom(16).hex()
    store_paths.note_token(usual, token)
    atomic.write(f"{usual}/{store_paths.TOKEN}", token, private=True)
    return before
