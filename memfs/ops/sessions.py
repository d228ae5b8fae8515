"""Sessions: list those in recall, read one, forget one."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass

from memfs import files, hosts
from memfs.core.errors import LockedError, NotFoundError, RejectedError, UsageError
from memfs.core.records import Message, Origin
from memfs.core.snippet import snippet
from memfs.files import trees
from memfs.store import inventory, lock, recall, session_outcomes, spool, store_paths
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

_SIDE = ".agent-"  # in the file names of subagents' chains
_NAMED = 3  # sessions that an error names


@dataclass(frozen=True)
class RecordedSession:
    """A session in recall. `prompt` is what its user said first.

    `started` and `ended` are the times of its first and last message: ISO 8601 in UTC, "" where
    the assistant did not record them. `outcome` is what a person said of it: worked, failed or "".
    """

    id: str
    host: str
    project: str
    branch: str
    started: str
    ended: str
    prompt: str
    bytes: int = 0
    outcome: str = ""

    def __repr__(self) -> str:
        text = snippet(self.prompt, (), 60)
        return f"<RecordedSession {self.id} {self.host} {self.ended[:10]}: {text!r}>"


@dataclass(frozen=True)
class SessionMessage:
    """A message of a session; `turn` is the number of the prompt that it belongs to."""

    turn: int
    message: Message


def list_sessions(place: Place, limit: int = 0, host: str = "") -> list[RecordedSession]:
    """Return the sessions in recall, the latest first, at most `limit` (0: all).

    Raises `UsageError` for a negative limit.
    """
    if limit < 0:
        raise UsageError(f"limit is {limit}, expected 1 or more, or 0 for all")
    found = [each for each, _ in _load_sessions(place) if host in ("", each.host)]
    found.sort(key=lambda session: session.ended, reverse=True)
    return found[: limit or None]


@dataclass(frozen=True)
class SessionPage:
    """Some of the sessions in recall, the last written first, and how many there are."""

    sessions: tuple[RecordedSession, ...]
    total: int
    hosts: tuple[str, ...]


def list_latest(place: Place, first: int, count: int, host: str = "") -> SessionPage:
    """Return `count` sessions from the place `first` (0) on, of one host or all.

    Only these are opened, however many there are.
    """
    listed = [(host_name, path) for _, host_name, path in _list_by_time(place.home)]
    found = sorted({host_name for host_name, _ in listed})
    wanted = [path for host_name, path in listed if host in ("", host_name)]
    said = _load_outcomes(place)
    shown = (_load_session(path, "", said) for path in wanted[first : first + count])
    return SessionPage(tuple(each for each in shown if each), len(wanted), tuple(found))


def open_session(place: Place, host: str, ident: str) -> tuple[RecordedSession, list[Message]]:
    """Return a session by its host and whole id, with its messages, without its subagents'.

    Raises `NotFoundError`.
    """
    named = ident and host and store_paths.file_name(host) == host  # it stands in a path
    path = recall.get_path(place.home, host, ident) if named else ""
    found = _load_session(path, "", _load_outcomes(place)) if files.is_file(path) else None
    if found is None:
        raise NotFoundError(f"there is no session '{ident}'", "memfs session list shows them")
    return found, [message for message in recall.messages(path) if not message.side]


def find_session(place: Place, ident: str) -> tuple[RecordedSession, str]:
    """Return a session, by its id or a unique prefix, and its file. Raises `NotFoundError`."""
    found = _load_sessions(place, ident)
    exact = [each for each in found if each[0].id == ident]
    if not ident or not found:
        raise NotFoundError(f"there is no session '{ident}'", "memfs session list shows them")
    if len(exact or found) > 1:
        names = ", ".join(session.id for session, _ in found[:_NAMED])
        raise NotFoundError(f"several sessions begin with {ident}: {names}", "name one of them")
    return (exact or found)[0]


def read_session(place: Place, ident: str) -> list[Message]:
    """Return the messages of a session, by its id or a unique prefix, without its subagents'.

    In a project also those of a chat in the user's store, by its whole id. Raises `NotFoundError`.
    """
    path = _find_chat(place, ident) or find_session(place, ident)[1]
    return [message for message in recall.messages(path) if not message.side]


def _find_chat(place: Place, ident: str) -> str:
    """Return the file of an imported chat in the user's store, "" if there is none."""
    if place.project is None or place.user is None or not ident:
        return ""
    paths = [recall.get_path(place.user, host, ident) for host in hosts.CHATS]
    return next(filter(files.is_file, paths), "")


def number_turns(messages: list[Message]) -> list[SessionMessage]:
    """Return the messages of a session with the numbers of their turns, as the graph has them."""
    found, turn = [], 0
    for message in messages:
        turn += message.role == "user"
        found.append(SessionMessage(turn, message))
    return found


def _load_sessions(place: Place, prefix: str = "") -> list[tuple[RecordedSession, str]]:
    """Return the sessions whose ids have a prefix, each with its file; new messages are read."""
    if spool.list_notes(place.home):
        from memfs.ingest import transcripts  # with what reads every assistant's files

        with suppress(LockedError):  # another process ingests
            transcripts.drain(place.home, transcripts.Tally())
    said = _load_outcomes(place)
    found = []
    for path in recall.sources(place.home):
        if _SIDE not in os.path.basename(path):
            session = _load_session(path, prefix, said)
            if session is not None:
                found.append((session, path))
    return found


def _list_by_time(store: Store) -> list[tuple[int, str, str]]:
    """List (when it was written, in nanoseconds; host; path) of sessions' files, the last first."""
    top = f"{store.local}/recall"
    names = (
        [name for name, is_folder in files.entries(top) if is_folder]
        if files.is_folder(top)
        else []
    )
    found = [
        (at, host, f"{top}/{host}/{name}")
        for host in names
        for at, name in trees.list_times(f"{top}/{host}")
        if name.endswith(recall.SUFFIX) and not name.startswith(".") and _SIDE not in name
    ]
    return sorted(found, reverse=True)


def _load_outcomes(place: Place) -> dict[str, str]:
    """Return what a person said of sessions, by their ids: worked or failed."""
    return {
        each.session: "worked" if each.worked else "failed"
        for each in session_outcomes.list_outcomes(place.home)
        if not each.turn and not each.gone
    }


def _load_session(path: str, prefix: str, said: dict[str, str]) -> RecordedSession | None:
    """Return the session of a recall file; None if it is empty, or has not the prefix."""
    first = next(recall.messages(path), None)
    if first is None or not first.session.startswith(prefix):
        return None
    return RecordedSession(
        first.session,
        first.host,
        first.project,
        first.branch,
        first.at,
        (recall.read_last(path) or first).at,
        next((m.text for m in recall.messages(path) if m.role == "user" and not m.side), ""),
        files.get_size(path),
        said.get(first.session, ""),
    )


@dataclass(frozen=True)
class ForgottenSession:
    """How many messages went with a session, and how many facts that nobody had accepted."""

    id: str
    messages: int
    facts: int


def forget_session(place: Place, ident: str, origin: Origin) -> ForgottenSession:
    """Remove a session from recall, the index, the graph and the facts; it is not read again.

    The next search makes the index anew, so that no deleted text stays in its files.
    Facts that a person accepted stay, and so does what stands in blocks and in the archive. The
    host's own transcript is not touched. Raises `NotFoundError`, and `RejectedError` for an agent.
    """
    if origin.actor == "agent":
        raise RejectedError("a session is forgotten by a person", "ask the user to do it")
    found, path = find_session(place, ident)
    store = place.home
    with lock.hold_lock(store, name=lock.INGEST):
        messages = sum(1 for _ in recall.messages(path))
        for note, host, _, name in spool.list_notes(store):
            if host == found.host and name == found.id:
                spool.remove_note(note)
        recall.forget(store, found.host, found.id)
    with lock.hold_locks(place.stores(), lock.KINDS):
        gone = session_outcomes.remove_traces(place, store, found.host, found.id)
    with lock.hold_lock(store, name=lock.INDEX):
        inventory.remove_indexes(store)  # what is deleted in one stays in its files
    return ForgottenSession(found.id, messages, gone)
