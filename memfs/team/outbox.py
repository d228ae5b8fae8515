"""What a team's server has of a joined project: ids alone, by session, and the last contact.

What is lost or damaged of it costs that messages are sent again, which adds nothing at the server.
"""

import json
import time
from collections.abc import Collection
from typing import TypeVar

import msgspec

from memfs import files
from memfs.core.errors import UNREADABLE
from memfs.files import atomic, logs, trees
from memfs.store import store_paths
from memfs.store.store_paths import Store
from memfs.team import FOLDER, membership
from memfs.team.membership import NamedSession, SessionName
from memfs.team.protocol import MessageId

T = TypeVar("T")
_SENT = "sent"
_SIZE = 16  # bytes of an id in a file
_LARGEST = 8 << 20  # bytes of a file of JSON
_MOST_REFUSED = 1000  # ids whose reasons are kept


class SentSession(NamedSession, frozen=True):
    """Up to where a session was compared with what the server has.

    The first `offset` bytes of its recall file looked like `print`, and end with the message
    `ordinal` of the turn `turn`; of these, all that `rules` share was sent and all else taken back.
    No `rules`: it is not known. `signature` is that of the file then; `branch` and `title` are
    what the server was told of the session.
    """

    rules: str = ""
    offset: int = 0
    print: str = ""
    signature: str = ""
    turn: int = 0
    ordinal: int = 0
    branch: str = ""
    title: str = ""


class ServerContact(msgspec.Struct, frozen=True):
    """The last run of an upload: when it ended (ISO 8601), and what is wrong, "" for nothing.

    `away`: the server was. `failures` counts runs without success, one after the other. `since`:
    what was written to recall before that time (nanoseconds since 1970) has been compared, by the
    rules of which `rules` is the hash. `reached_at`: when the server answered last.
    """

    at: str = ""
    error: str = ""
    away: bool = False
    failures: int = 0
    since: int = 0
    rules: str = ""
    reached_at: str = ""


class _Flight(msgspec.Struct, frozen=True):
    """The last stamp, and the ids that were on their way, by host and session."""

    stamp: int = 0
    sent: list[tuple[str, str, list[MessageId]]] = []


class TeamOutbox:
    """The ids that the server of one joined project has, or may have, in hexadecimal.

    One process writes it.
    """

    def __init__(self, user: Store, key: str) -> None:
        self.lock = f"{FOLDER}/{_SENT}/{key}.lock"
        self._above = f"{membership.get_folder(user)}/{_SENT}"
        self._folder = f"{self._above}/{key}"
        found = _load(f"{self._folder}/flight.json", _Flight) or _Flight()
        self._stamp = found.stamp
        self._flight = {(host, session): {*ids} for host, session, ids in found.sent}

    def make_folder(self) -> None:
        """Make the folder of the ids, with the one of its lock."""
        files.make_folder(self._folder, private=True)

    def remove(self) -> None:
        """Remove all that is known of the project."""
        trees.remove(self._folder)
        self._flight.clear()

    # What is on its way

    def get_flight(self, name: SessionName) -> set[str]:
        """Return the ids of a session of which no answer came."""
        return self._flight.get(name, set())

    def take_stamp(self, ids: dict[SessionName, set[str]]) -> int:
        """Note ids that are about to go, durably; return the stamp of their request.

        It is in milliseconds, and later than every one before it.
        """
        for name, some in ids.items():
            self._flight[name] = self.get_flight(name) | some
        self._stamp = max(time.time_ns() // 1_000_000, self._stamp + 1)
        self._save_flight()
        return self._stamp

    def land(self, name: SessionName, ids: Collection[str]) -> None:
        """Forget that ids were on their way: an answer came, or they were taken back."""
        rest = self._flight.pop(name, set()).difference(ids)
        if rest:
            self._flight[name] = rest

    def save_flight(self) -> None:
        """Save what is still on its way."""
        if files.is_folder(self._folder):
            self._save_flight()

    def _save_flight(self) -> None:
        sent = [(*name, [*ids]) for name, ids in self._flight.items()]
        self._write("flight.json", _Flight(self._stamp, sent))

    # What the server has

    def list_sessions(self) -> list[SentSession]:
        """Return the sessions of which the server has, or may have, messages."""
        found: dict[str, SentSession] = {}
        for each in trees.walk(f"{self._folder}/sessions", levels=2):
            bare, _, end = each.name.rpartition(".")
            host, _, name = bare.rpartition("/")
            session = _load(each.path, SentSession) if end == "json" else None
            if session is not None:
                found[bare] = session
            elif end in ("ids", "json") and not each.name.startswith("."):
                found.setdefault(bare, SentSession(host, name))  # it is damaged, or lost
        on_their_way = {name: SentSession(*name) for name in self._flight}
        return [*(on_their_way | {session.name: session for session in found.values()}).values()]

    def load_session(self, name: SessionName) -> SentSession | None:
        """Return what is known of a session, None for nothing."""
        return _load(f"{self._get_path(name)}.json", SentSession)

    def save_session(self, session: SentSession) -> None:
        """Save what is known of a session, durably."""
        path = f"{self._get_path(session.name)}.json"
        files.make_folder(path.rpartition("/")[0], private=True)
        atomic.write_private(path, _encode(session))

    def remove_session(self, name: SessionName) -> None:
        """Remove what is known of a session: the server has nothing of it."""
        path = self._get_path(name)
        for each in (f"{path}.ids", f"{path}.json"):  # the name last
            files.remove(each)
        self.land(name, self.get_flight(name))

    def load_ids(self, name: SessionName) -> set[str]:
        """Return the ids of the messages that the server has of a session."""
        data = logs.read_whole(f"{self._get_path(name)}.ids") or b""
        return {data[at : at + _SIZE].hex() for at in range(0, len(data) - _SIZE + 1, _SIZE)}

    def add_ids(self, name: SessionName, ids: Collection[str]) -> None:
        """Add ids that the server has acknowledged, durably. `save_session` came before."""
        path = f"{self._get_path(name)}.ids"
        size = files.get_size(path)
        if size % _SIZE:  # a killed run was adding to it
            logs.truncate_log(path, size - size % _SIZE)
        logs.append(path, bytes.fromhex("".join(ids)))
        self.land(name, ids)

    def replace_ids(self, name: SessionName, ids: Collection[str]) -> None:
        """Replace the ids of a session: the server took others back."""
        atomic.write_private(f"{self._get_path(name)}.ids", bytes.fromhex("".join(ids)))

    # What the server refused, and the last contact

    def load_refusals(self) -> dict[str, str]:
        """Return why the server did not take messages, by their ids."""
        return _load(f"{self._folder}/refused.json", dict[str, str]) or {}

    def save_refusals(self, refusals: dict[str, str]) -> None:
        """Save why the server did not take messages."""
        latest = dict(list(refusals.items())[-_MOST_REFUSED:])
        self._write("refused.json", latest)

    def load_contact(self) -> ServerContact:
        """Return the last contact with the server; an empty one if there was none."""
        return _load(f"{self._folder}/contact.json", ServerContact) or ServerContact()

    def save_contact(self, contact: ServerContact) -> None:
        """Save the last contact with the server."""
        self._write("contact.json", contact)

    def _write(self, name: str, value: object) -> None:
        self.make_folder()
        atomic.write_private(f"{self._folder}/{name}", _encode(value))

    def _get_path(self, name: SessionName) -> str:
        host, session = map(store_paths.file_name, name)
        return f"{self._folder}/sessions/{host}/{session}"


def _encode(value: object) -> bytes:
    return (json.dumps(msgspec.to_builtins(value)) + "\n").encode("ascii")


def _load(path: str, form: type[T]) -> T | None:
    """Read a file; None if there is none, or it is damaged."""
    try:
        return msgspec.convert(json.loads(files.read(path, cap=_LARGEST) or ""), form)
    except UNREADABLE:
        return None
