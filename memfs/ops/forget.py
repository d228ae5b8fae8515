"""Forget a session: nothing of it is recalled, and it is not read again."""

from __future__ import annotations

from dataclasses import dataclass

from memfs.core.errors import RejectedError
from memfs.core.records import Origin
from memfs.ingest import transcripts
from memfs.ops.sessions import find_session
from memfs.recall import index_sources
from memfs.store import inventory, lock, recall, session_outcomes, spool
from memfs.store.blocks import Place


@dataclass(frozen=True)
class ForgottenSession:
    """How many messages went with a session, and how many facts that nobody had accepted."""

    id: str
    messages: int
    facts: int


def run(place: Place, ident: str, origin: Origin) -> ForgottenSession:
    """Remove a session from recall, the index, the graph and the facts; it is not read again.

    The next search makes the index anew, so that no deleted text stays in its files.
    Facts that a person accepted stay, and so does what stands in blocks and in the archive. The
    host's own transcript is not touched. Raises `NotFoundError`, and `RejectedError` for an agent.
    """
    if origin.actor == "agent":
        raise RejectedError("a session is forgotten by a person", "ask the user to do it")
    found, path = find_session(place, ident)
    store = place.home
    with lock.hold_lock(store, name=transcripts.LOCK):
        messages = sum(1 for _ in recall.messages(path))
        for note, host, _, name in spool.list_notes(store):
            if host == found.host and name == found.id:
                spool.remove_note(note)
        recall.forget(store, found.host, found.id)
    gone = session_outcomes.remove_traces(place, store, found.host, found.id)
    with lock.hold_lock(store, name=index_sources.LOCK):
        inventory.remove_indexes(store)  # what is deleted in one stays in its files
    return ForgottenSession(found.id, messages, gone)
