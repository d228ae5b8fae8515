"""End a session: leave word of its transcript, and commit what it remembered if asked to."""

from memfs.core.errors import StoreError
from memfs.core.events import Event
from memfs.core.records import Origin
from memfs.store import autocommit, blocks, inbox


def run(event: Event) -> None:
    """Put the session's transcript on the list of what the next ingest reads.

    Raises `StoreError` with the reason where a commit was asked for and could not be made.
    """
    place = blocks.answering(event)
    if place is None:
        return
    if event.transcript:
        inbox.put(place.home, event.host, event.transcript, event.session)
    note = autocommit.ended(place, Origin("agent", event.host, event.session))
    if note:
        raise StoreError(note)
