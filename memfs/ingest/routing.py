"""Which store the sessions that assistants keep on this machine belong to."""

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TypeAlias

from memfs.core.errors import MemfsError
from memfs.core.records import Identity
from memfs.ingest import transcript_files
from memfs.ingest.transcript_files import Sessions
from memfs.store import store_paths
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

NO_STORE = "their folder has no store"
NOT_TRUSTED = "you have not trusted the store of their folder"


@dataclass
class StoreBatch:
    """The sessions for one store: by transcript, their (host, identity)."""

    place: Place
    sessions: dict[str, list[tuple[str, Identity]]] = field(default_factory=dict)


@dataclass
class UnroutedSession:
    """Sessions of a folder ("": not known) without a store; `hint` says how to get one."""

    folder: str
    reason: str
    hint: str
    sessions: int = 0


_Holder: TypeAlias = "StoreBatch | UnroutedSession"


def divide(found: Sessions) -> tuple[list[StoreBatch], list[UnroutedSession]]:
    """Give each session to the store of the folder that it was held in, else to the user's.

    Sessions go with their subagents, linked worktrees with their repository. The project that most
    sessions are of comes first.
    """
    stores = _Stores()
    holders: dict[tuple[str, str], _Holder] = {}  # by host and session
    each = [(path, *one) for path, some in found.items() for one in some]
    for _, host, identity in sorted(each, key=lambda one: bool(one[2].agent)):
        key = host, identity.session
        if key not in holders:
            holders[key] = stores.find_holder(identity.project)
    counts: Counter[int] = Counter()
    for path, host, identity in each:
        holder = holders[host, identity.session]
        counts[id(holder)] += 1
        if isinstance(holder, StoreBatch):
            holder.sessions.setdefault(path, []).append((host, identity))
        elif not identity.agent:
            holder.sessions += 1
    shares = [share for share in stores.shares.values() if share.sessions]
    shares.sort(key=lambda share: -counts[id(share)])
    return shares, [left for left in stores.left.values() if left.sessions]


def find_other_store(store: Store, path: str, session: str) -> tuple[str, Store] | None:
    """Return (host, the store) of the folder that a session was begun in, if it is another one.

    A session can go on in another folder. None where its own has no store that its user trusts:
    then it stays where its assistant is.
    """
    for host, identity in transcript_files.sessions(path, "", session):
        if not os.path.isabs(identity.project):
            continue
        try:
            found = store_paths.find_trusted(identity.project)
        except (MemfsError, OSError, ValueError):
            continue
        if found and found.local != store.local:
            return host, found
    return None


class _Stores:
    def __init__(self) -> None:
        self._user = store_paths.user_store()
        self._known: dict[str, _Holder] = {}  # by folder
        self.shares: dict[str, StoreBatch] = {}  # by the part that linked worktrees share
        self.left: dict[tuple[str, str], UnroutedSession] = {}  # by folder and reason

    def find_holder(self, folder: str) -> _Holder:
        """Find the batch that the sessions of a folder belong to, or why there is none."""
        if folder not in self._known:
            self._known[folder] = self._find(folder)
        return self._known[folder]

    def _find(self, folder: str) -> _Holder:
        try:
            # What another system calls absolute would be looked for below the current folder.
            store = store_paths.find(folder) if os.path.isabs(folder) else None
        except MemfsError as error:
            return self._add_unrouted(folder, error.message, error.hint)
        except (OSError, ValueError):  # no name that a folder can have here
            store = None
        if store and not store.trusted:
            return self._add_unrouted(store.top, NOT_TRUSTED, "run memfs trust in that folder")
        if store:
            if store.tree and store_paths.is_store(store.main):  # of a linked worktree
                store = Store(store.main, store.tier, store.local)
            return self.shares.setdefault(store.local, StoreBatch(Place(store, self._user)))
        if self._user:
            place = Place(None, self._user)
            return self.shares.setdefault(self._user.local, StoreBatch(place))
        return self._add_unrouted(folder, NO_STORE, "run memfs init in that folder")

    def _add_unrouted(self, folder: str, reason: str, hint: str) -> UnroutedSession:
        return self.left.setdefault((folder, reason), UnroutedSession(folder, reason, hint))
