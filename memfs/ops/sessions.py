"""Sessions: list those in recall, read one, star or rename some, forget some."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from memfs import files, hosts
from memfs.core import formats
from memfs.core.errors import LockedError, NotFoundError, RejectedError, UsageError
from memfs.core.records import Message, Origin
from memfs.core.snippet import snippet
from memfs.core.titles import make_title
from memfs.files import logs, signatures
from memfs.store import lock, recall, session_outcomes, spool, store_paths
from memfs.store.blocks import Place
from memfs.store.file_cache import FileCache
from memfs.store.session_outcomes import SessionMark

_SIDE = ".agent-"  # in the file names of subagents' chains
_NAMED = 3  # sessions that an error names


@dataclass(frozen=True)
class RecordedSession:
    """A session in recall. `prompt` is what its user said first.

    `started` and `ended` are the times of its first and last message: ISO 8601 in UTC, "" where
    the assistant did not record them. `outcome` is what a person said of it: worked, failed or "".
    `title` is what a person called it, else the first sentence of the prompt.
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
    title: str = ""
    starred: bool = False

    def __repr__(self) -> str:
        text = snippet(self.prompt, (), 60)
        return f"<RecordedSession {self.id} {self.host} {self.ended[:10]}: {text!r}>"


@dataclass(frozen=True)
class SessionMessage:
    """A message of a session; `turn` is the number of the prompt that it belongs to."""

    turn: int
    message: Message


@dataclass(frozen=True)
class SessionFilter:
    """Conditions that sessions have to meet, all of them; one that is left out is met by each.

    `text` stands in the title or in a message, in any case; `project` in the path of the project.
    `since` and `until` are seconds since 1970, between which the last message was said.
    """

    text: str = ""
    since: int | None = None
    until: int | None = None
    host: str = ""
    project: str = ""
    outcome: str = ""
    starred: bool = False

    def accepts(self, session: RecordedSession, path: str) -> bool:
        """Tell whether a session, whose file is at `path`, meets the conditions."""
        is_timed = self.since is not None or self.until is not None
        moment = formats.parse(session.ended) if is_timed else None
        at = moment.timestamp() if moment else None
        words = self.text.casefold()
        return (
            self.host in ("", session.host)
            and self.outcome in ("", session.outcome)
            and self.starred <= session.starred
            and self.project.casefold() in session.project.casefold()
            and (self.since is None or (at is not None and at >= self.since))
            and (self.until is None or (at is not None and at <= self.until))
            and (
                words in session.title.casefold()
                or any(words in message.text.casefold() for message in recall.messages(path))
            )
        )


ALL = SessionFilter()
SessionCache = FileCache["RecordedSession | None"]


def make_cache() -> SessionCache:
    """Return a cache of sessions, for a process that lists them often."""
    return FileCache(_read_session)


def list_sessions(
    place: Place, limit: int = 0, only: SessionFilter = ALL, cache: SessionCache | None = None
) -> list[RecordedSession]:
    """Return the sessions in recall, the latest first, at most `limit` (0: all).

    New transcripts are ingested first, unless a cache is given. Raises `UsageError` for a negative
    limit.
    """
    if limit < 0:
        raise UsageError(f"limit is {limit}, expected 1 or more, or 0 for all")
    if cache is None:
        _ingest_new(place)
    found = [each for each, path in _load_sessions(place, cache=cache) if only.accepts(each, path)]
    found.sort(key=lambda session: session.ended, reverse=True)
    return found[: limit or None]


def count_messages(place: Place, session: RecordedSession) -> int:
    """Return how many messages a session has, without its subagents'."""
    with logs.open_stream(recall.get_path(place.home, session.host, session.id)) as handle:
        return sum(b'", "side": true' not in line for line in handle)


def load_session(place: Place, host: str, ident: str) -> RecordedSession:
    """Return a session by its host and whole id. Raises `NotFoundError`."""
    named = ident and host and store_paths.file_name(host) == host  # it stands in a path
    path = recall.get_path(place.home, host, ident) if named else ""
    found = _read_session(path) if files.is_file(path) else None
    if found is None:
        raise NotFoundError(
            f"there is no session '{ident}'", "list the sessions: memfs session list"
        )
    return _PersonalNotes(place).add_to(found)


def open_session(place: Place, host: str, ident: str) -> tuple[RecordedSession, list[Message]]:
    """Return a session by its host and whole id, with its messages, without its subagents'.

    Raises `NotFoundError`.
    """
    found = load_session(place, host, ident)
    said = recall.messages(recall.get_path(place.home, found.host, found.id))
    return found, [message for message in said if not message.side]


def find_session(place: Place, ident: str) -> tuple[RecordedSession, str]:
    """Return a session, by its id or a unique prefix, and its file. Raises `NotFoundError`."""
    _ingest_new(place)
    found = _load_sessions(place, ident)
    exact = [each for each in found if each[0].id == ident]
    if not ident or not found:
        raise NotFoundError(
            f"there is no session '{ident}'", "list the sessions: memfs session list"
        )
    if len(exact or found) > 1:
        names = ", ".join(session.id for session, _ in found[:_NAMED])
        raise NotFoundError(f"several session ids start with {ident}: {names}", "give the full id")
    return (exact or found)[0]


def read_session(place: Place, ident: str) -> list[Message]:
    """Return the messages of a session, by its id or a unique prefix, without its subagents'.

    In a project also those of a chat in the user's store, by its whole id. Raises `NotFoundError`.
    """
    paths = []
    if place.project and place.user and ident:
        paths = [recall.get_path(place.user, host, ident) for host in hosts.CHATS]
    path = next(filter(files.is_file, paths), "") or find_session(place, ident)[1]
    return [message for message in recall.messages(path) if not message.side]


def number_turns(messages: list[Message]) -> list[SessionMessage]:
    """Return the messages of a session with the numbers of their turns, as the graph has them."""
    found, turn = [], 0
    for message in messages:
        turn += message.role == "user"
        found.append(SessionMessage(turn, message))
    return found


def _ingest_new(place: Place) -> None:
    if spool.list_notes(place.home):
        from memfs.ingest import transcripts  # with what reads every assistant's files

        with suppress(LockedError):
            transcripts.drain(place.home, transcripts.Tally())


def _load_sessions(
    place: Place, prefix: str = "", cache: SessionCache | None = None
) -> list[tuple[RecordedSession, str]]:
    """Return the sessions whose ids have a prefix, each with its file."""
    notes = _PersonalNotes(place)
    found = []
    for path in recall.sources(place.home):
        if _SIDE not in os.path.basename(path):
            read = cache.read(path, signatures.sign_file(path)) if cache else _read_session(path)
            if read is not None and read.id.startswith(prefix):
                found.append((notes.add_to(read), path))
    return found


class _PersonalNotes:
    """What a person said of sessions: how they came out, stars and titles."""

    def __init__(self, place: Place) -> None:
        self._marks = session_outcomes.load_marks(place.home)
        self._outcomes = {
            each.session: "worked" if each.worked else "failed"
            for each in session_outcomes.list_outcomes(place.home)
            if not each.turn and not each.gone
        }

    def add_to(self, session: RecordedSession) -> RecordedSession:
        """Return a session with what was said of it."""
        mark, outcome = self._marks.get(session.id), self._outcomes.get(session.id, "")
        if mark is None:
            return replace(session, outcome=outcome) if outcome else session
        title = mark.title or session.title
        return replace(session, outcome=outcome, title=title, starred=bool(mark.starred))


def _read_session(path: str) -> RecordedSession | None:
    first, prompt = None, ""
    for message in recall.messages(path):
        first = first or message
        if message.role == "user" and not message.side:
            prompt = message.text
            break
    if first is None:
        return None
    ident, host = recall.get_session(path, first), os.path.basename(os.path.dirname(path))
    ended, size = (recall.read_last(path) or first).at, files.get_size(path)
    about = (first.project, first.branch, first.at, ended, prompt, size)
    return RecordedSession(ident, host, *about, title=make_title(prompt))


def star_sessions(
    place: Place, sessions: Iterable[RecordedSession], *, starred: bool = True
) -> None:
    """Star sessions, or take their stars: a filter never forgets a starred one."""
    marks = [SessionMark(each.id, starred=starred) for each in sessions]
    session_outcomes.write_marks(place.home, marks)


def rename_session(place: Place, session: RecordedSession, title: str) -> str:
    """Give a session a title, "": its own; return the title that it has now."""
    session_outcomes.write_marks(place.home, [SessionMark(session.id, title=title)])
    return load_session(place, session.host, session.id).title


@dataclass(frozen=True)
class ForgottenSessions:
    """How many sessions went, their messages, and facts of theirs that nobody had accepted."""

    sessions: int
    messages: int
    facts: int


def forget_sessions(
    place: Place, sessions: Sequence[RecordedSession], origin: Origin
) -> ForgottenSessions:
    """Remove sessions from recall, the index, the graph and the facts; they are not read again.

    The next search makes the index anew, so that no deleted text stays in its files.
    Facts that a person accepted stay, and so does what stands in blocks and in the archive. The
    host's own transcript is not touched. Raises `RejectedError` for an agent.
    """
    if origin.actor == "agent":
        raise RejectedError(
            "only a person can make memfs forget a session",
            "ask the user to run memfs session forget",
        )
    store = place.home
    names = {(each.host, each.id) for each in sessions}
    paths = [recall.get_path(store, *name) for name in names]
    *others, _ = session_outcomes.FORGETTING
    with lock.hold_locks([store], *others), lock.hold_locks(place.stores(), lock.KINDS):
        messages = sum(sum(1 for _ in recall.messages(path)) for path in paths)
        gone = session_outcomes.forget_sessions(place, store, names)
    return ForgottenSessions(len(names), messages, gone)
