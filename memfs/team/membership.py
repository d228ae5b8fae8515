"""Servers with tokens, joined projects and what is never shared: the user's own private files."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeVar

import msgspec

from memfs import files
from memfs.core.errors import UNREADABLE, StoreError
from memfs.files import atomic
from memfs.store import lock
from memfs.store.store_paths import Store
from memfs.team import FOLDER

T = TypeVar("T")
SessionName = tuple[str, str]  # host and session
Base = Literal["nothing", "solved", "all"]  # what is shared of every session
_PROJECTS, _SERVERS, _NEVER, _LOCK = "projects", "servers", "never.json", "lock"
_ASIDE = ".damaged"
_LARGEST = 4 << 20  # bytes of a file
_DIGITS = 32  # of a key
REPAIR = "repair the file, or move it away and repeat 'memfs team join' or 'memfs team never'"


@dataclass(frozen=True)
class TeamAccount:
    """A member's access to a team's server. `ca` is a file of certificates, "" for the system's."""

    address: str
    token: str = field(repr=False)
    team: str
    member: str
    ca: str = ""
    expires: str = ""


class NamedSession(msgspec.Struct, frozen=True):
    """A session by its host and its id there."""

    host: str
    session: str

    @property
    def name(self) -> SessionName:
        return self.host, self.session


class SharedTurns(NamedSession, frozen=True):
    """A session that is shared: the turns `first` to `last` (0: from the first, to the last).

    `tools`: what tools were given and answered goes with them.
    """

    first: int = 0
    last: int = 0
    tools: bool = False


class SharingRules(msgspec.Struct, frozen=True):
    """What of a project is shared: `base` of every session, and chosen `sessions` beside that.

    `tools` is of the base alone; sessions in `withheld` are not shared, whatever the base is.
    `shown_at` is when its user was shown what is to go, "" for never: then nothing goes.
    """

    base: Base = "nothing"
    tools: bool = False
    sessions: list[SharedTurns] = []
    withheld: list[NamedSession] = []
    shown_at: str = ""


class JoinedProject(msgspec.Struct, frozen=True):
    """A project of a team that a store belongs to. `local` is the store's local folder.

    `address` is that of the server, `id`, `name` and `role` what the server calls the project.
    """

    local: str
    address: str
    id: int
    name: str
    role: str
    rules: SharingRules = SharingRules()

    @property
    def key(self) -> str:
        return make_key(self.local)


def make_key(text: str) -> str:
    """Return the name of the files about a store's local folder, or about an address."""
    return hashlib.sha256(files.encode(text)).hexdigest()[:_DIGITS]


def get_folder(user: Store) -> str:
    """Return the folder with all that is known of teams."""
    return f"{user.local}/{FOLDER}"


def load_account(user: Store, address: str) -> TeamAccount | None:
    """Return the access to a server, None if there is none. Raises `StoreError`."""
    return _load(_get_account_path(user, address), TeamAccount)


def save_account(user: Store, account: TeamAccount) -> None:
    """Save the access to a server; a damaged file of it is put aside."""
    _save(_get_account_path(user, account.address), account)


def load_project(user: Store, local: str) -> JoinedProject | None:
    """Return what a store's local folder has joined, None for nothing. Raises `StoreError`."""
    return _load(get_project_path(user, make_key(local)), JoinedProject)


def load_access(user: Store, local: str) -> tuple[JoinedProject, TeamAccount] | None:
    """Return what a store's local folder has joined, with the access to its server; else None.

    Raises `StoreError`.
    """
    project = load_project(user, local)
    account = load_account(user, project.address) if project else None
    return (project, account) if project and account else None


def save_project(user: Store, project: JoinedProject) -> None:
    """Save a joined project and what of it is shared; a damaged file of it is put aside."""
    _save(get_project_path(user, project.key), project)


def remove_project(user: Store, project: JoinedProject) -> None:
    """Remove a joined project, and the access to its server once no other project needs it."""
    folder = f"{get_folder(user)}/{_PROJECTS}"
    files.remove(get_project_path(user, project.key))
    files.sync_folder(folder)
    others, problems = list_joined_projects(user)
    if not problems and all(each.address != project.address for each in others):
        files.remove(_get_account_path(user, project.address))


def list_joined_projects(user: Store) -> tuple[list[JoinedProject], list[str]]:
    """Return the joined projects, and what is wrong with those that cannot be read."""
    folder = f"{get_folder(user)}/{_PROJECTS}"
    found, problems = [], []
    for name in files.names(folder):
        if not name.endswith(".json") or name.startswith("."):
            continue
        try:
            project = _load(f"{folder}/{name}", JoinedProject)
        except StoreError as error:
            problems.append(error.message)
            continue
        if project is not None and project.key == name.removesuffix(".json"):
            found.append(project)
    return found, problems


def load_patterns(user: Store) -> list[str]:
    """Return the patterns of what is never shared, with any team. Raises `StoreError`."""
    return _load(get_patterns_path(user), list[str]) or []


def save_patterns(user: Store, patterns: list[str]) -> None:
    """Save the patterns of what is never shared."""
    _save(get_patterns_path(user), patterns)


def get_patterns_path(user: Store) -> str:
    """Return the file of the patterns."""
    return f"{get_folder(user)}/{_NEVER}"


def get_project_path(user: Store, key: str) -> str:
    """Return the file of a joined project."""
    return f"{get_folder(user)}/{_PROJECTS}/{key}.json"


@contextmanager
def hold_membership(user: Store) -> Iterator[None]:
    """Hold the lock of all these files, for a change that depends on what they say."""
    files.make_folder(get_folder(user), private=True)
    with lock.hold_lock(user, name=f"{FOLDER}/{_LOCK}"):
        yield


def _get_account_path(user: Store, address: str) -> str:
    return f"{get_folder(user)}/{_SERVERS}/{make_key(address)}.json"


def _load(path: str, form: type[T]) -> T | None:
    """Read a file; None if there is none. Raises `StoreError` for one that is damaged."""
    text = files.read(path, cap=_LARGEST)
    if text is None:
        return None
    try:
        return msgspec.convert(json.loads(text), form)
    except UNREADABLE:
        raise StoreError(
            f"{path} is damaged; no session is shared until the file is repaired", REPAIR
        ) from None


def _save(path: str, value: object) -> None:
    files.make_folder(os.path.dirname(path), private=True)
    try:
        _load(path, type(value))
    except StoreError:
        atomic.rename(path, path + _ASIDE)
    text = json.dumps(msgspec.to_builtins(value), indent=1) + "\n"
    atomic.write_private(path, files.encode(text))
