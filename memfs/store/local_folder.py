"""Whose a store's `local/` is: memfs made it on this machine, or it came with the project.

What stands in it is believed: the journal rolls edits forward, indexes are opened by native code.
So that of a project holds a random token, which the user's store knows, too. One without it is put
aside before anything in it is read or written. Hot path where something is written.
"""

import os
import time

from memfs import files
from memfs.core import label as labels
from memfs.core.errors import StoreError
from memfs.files import atomic
from memfs.store import clock, store_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.store.store_paths import Store

TOKEN = "token"  # noqa: S105 - its file
ASIDE = "aside"  # below the new local folder: what was found in its place
_KNOWN = "local/made"  # in the user's store: a file for each token, with the folder that holds it
_DIGITS = 32
_SOON = 60.0  # seconds


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
    token = _read_token(store)
    if not token or _find_token_folder(token) is None:
        token = os.urandom(_DIGITS // 2).hex()
        _note_token(store, token)
        atomic.write(f"{store.local}/{TOKEN}", token, private=True)
    return token


def is_ours(store: "Store") -> bool:
    """Tell whether memfs made a project's local folder on this machine, or it is not there.

    A project that was moved keeps it; of a copy the original alone has it.
    """
    if store.tier != labels.PROJECT or not os.path.lexists(store.local):
        return True
    token = _read_token(store)
    if not token:
        return False
    if store_paths.is_trusted(store):  # before there were notes of tokens, this was one
        return True
    place = _find_token_folder(token)
    if place is None:
        return False
    if place != store.local:
        copied = files.read(f"{place}/{TOKEN}", cap=_DIGITS) == token
        if copied and not _is_same(place, store.local):
            return False
        _note_token(store, token)
    return True


def list_projects() -> list[str]:
    """List the folders of the projects that have a store whose local folder was made here."""
    folder = f"{store_paths.user_root()}/{_KNOWN}"
    known = (files.read(f"{folder}/{name}") or "" for name in files.names(folder))
    tops = {os.path.dirname(os.path.dirname(local)) for local in known if local}
    return sorted(top for top in tops if store_paths.is_store(f"{top}/{store_paths.NAME}"))


def disown_folder(store: "Store") -> None:
    """Forget the token of a local folder: it counts as somebody else's from now on."""
    token = _read_token(store)
    if token:
        files.remove(f"{store_paths.user_root()}/{_KNOWN}/{token}")


def move_aside(store: "Store") -> str:
    """Move a local folder that is not ours aside; return where it is, "" if it is ours.

    It is then below a new one, which git ignores, and nothing in it is used. Raises `StoreError` if
    that cannot be done: then nothing of the store can be used.
    """
    waiting = _find_abandoned(store)  # by a run that was killed
    if not waiting and is_ours(store):
        return ""
    try:
        if not waiting:
            waiting = _make_temporary_path(store)
            atomic.rename(store.local, waiting)
        make(store)
        return _keep_aside(store, waiting)
    except FileNotFoundError:
        return ""  # another process was quicker
    except OSError as error:
        raise StoreError(
            f"{store.local} was not made by memfs here, and cannot be put aside: {error.strerror}",
            f"it came with the project: remove it, or let {os.path.dirname(store.local)} be "
            "written to",
        ) from error


def take_back(store: "Store") -> str:
    """Restore the local folder that was moved aside last, at its user's request.

    Returns where the folder is that was used until now, "" if none was moved aside.
    """
    found = _list_folders(f"{store.local}/{ASIDE}")
    if not found:
        return ""
    back, waiting = _make_temporary_path(store), _make_temporary_path(store)
    atomic.rename(f"{store.local}/{ASIDE}/{found[-1]}", back)
    atomic.rename(store.local, waiting)
    atomic.rename(back, store.local)
    claim_folder(store)
    return _keep_aside(store, waiting)


def _make_temporary_path(store: "Store") -> str:
    """Return a temporary path for a local folder while it is moved; git ignores it."""
    return f"{os.path.dirname(store.local)}/.local-{clock.unique()}.tmp"


def _find_abandoned(store: "Store") -> str:
    """Return a local folder whose move a kill interrupted, "" for none; moves are short."""
    above = os.path.dirname(store.local)
    for name in _list_folders(above):
        if name.startswith(".local-") and name.endswith(".tmp"):
            found = files.status(f"{above}/{name}")
            if found and time.time() - found.st_ctime > _SOON:
                return f"{above}/{name}"
    return ""


def _keep_aside(store: "Store", waiting: str) -> str:
    where = f"{store.local}/{ASIDE}/{os.path.basename(waiting)[1:-4]}"
    files.make_folder(os.path.dirname(where), private=True)
    atomic.rename(waiting, where)
    return where


def _list_folders(folder: str) -> list[str]:
    try:
        return sorted(name for name, is_folder in files.entries(folder) if is_folder)
    except OSError:
        return []


def _is_same(one: str, other: str) -> bool:
    """Tell whether two paths are one folder: it may be mounted twice."""
    found = files.status(one), files.status(other)
    return None not in found and os.path.samestat(*found)  # type: ignore[arg-type]


def _read_token(store: "Store") -> str:
    """Return the token that a local folder holds, "" for none, or for what cannot be one."""
    found = files.read(f"{store.local}/{TOKEN}", cap=_DIGITS + 1) or ""
    return found if len(found) == _DIGITS and set(found) <= set("0123456789abcdef") else ""


def _find_token_folder(token: str) -> str | None:
    """Return the folder that a token was made for, None if it was not made here."""
    return files.read(f"{store_paths.user_root()}/{_KNOWN}/{token}")


def _note_token(store: "Store", token: str) -> None:
    folder = f"{store_paths.user_root()}/{_KNOWN}"
    files.make_folder(folder, private=True)
    atomic.write(f"{folder}/{token}", store.local, private=True)
