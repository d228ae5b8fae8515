"""Sessions: list those in recall, and read one."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memfs.core.errors import LockedError, NotFoundError, UsageError
from memfs.core.snippet import snippet
from memfs.ingest import transcripts
from memfs.store import recall

if TYPE_CHECKING:
    from memfs.core.records import Message
    from memfs.store.blocks import Place

_SIDE = ".agent-"  # in the file names of subagents' chains
_SHOWN = 3  # sessions that an error names


@dataclass(frozen=True)
class RecordedSession:
    """A session in recall. `prompt` is what its user said first.

    `started` and `ended` are the times of its first and last message: ISO 8601 in UTC, "" where
    the assistant did not record them.
    """

    id: str
    host: str
    project: str
    branch: str
    started: str
    ended: str
    prompt: str

    def __repr__(self) -> str:
        text = snippet(self.prompt, (), 60)
        return f"<RecordedSession {self.id} {self.host} {self.ended[:10]}: {text!r}>"


def list_sessions(place: Place, limit: int = 0) -> list[RecordedSession]:
    """Return the sessions in recall, the latest first, at most `limit` (0: all).

    Raises `UsageError` for a negative limit.
    """
    if limit < 0:
        raise UsageError(f"limit is {limit}, expected 1 or more, or 0 for all")
    found = [session for session, _ in _load_sessions(place)]
    found.sort(key=lambda session: session.ended, reverse=True)
    return found[: limit or None]


def read_session(place: Place, ident: str) -> list[Message]:
    """Return the messages of a session, by its id or a unique prefix, without its subagents'.

    Raises `NotFoundError`.
    """
    found = [(session.id, path) for session, path in _load_sessions(place, ident)]
    exact = [(name, path) for name, path in found if name == ident]
    if not ident or not found:
        raise NotFoundError(f"there is no session '{ident}'", "memfs graph lists the latest")
    if len(exact or found) > 1:
        names = ", ".join(name for name, _ in found[:_SHOWN])
        raise NotFoundError(f"several sessions begin with {ident}: {names}", "name one of them")
    [(_, path)] = exact or found
    return [message for message in recall.messages(path) if not message.side]


def _load_sessions(place: Place, prefix: str = "") -> list[tuple[RecordedSession, str]]:
    """Return the sessions whose ids have a prefix, each with its file; new messages are read."""
    with suppress(LockedError):  # another process ingests
        transcripts.drain(place.home, transcripts.Tally())
    found = []
    for path in recall.sources(place.home):
        if _SIDE not in os.path.basename(path):
            session = _load_session(path, prefix)
            if session is not None:
                found.append((session, path))
    return found


def _load_session(path: str, prefix: str) -> RecordedSession | None:
    """Return the session of a recall file; None if it is empty, or has not the prefix."""
    first = next(recall.messages(path), None)
    if first is None or not first.session.startswith(prefix):
        return None
    prompt = next((m.text for m in recall.messages(path) if m.role == "user" and not m.side), "")
    last = recall.read_last(path) or first
    return RecordedSession(
        first.session, first.host, first.project, first.branch, first.at, last.at, prompt
    )
