"""A review of a session by the configured model, which saves what the session missed.

It runs in its own process when a session ends (`run_detached`), or at once (`memfs review`). The
model reads the brief and the conversation, and has the memory tools; it is asked once a session.
"""

from __future__ import annotations

from memfs import files
from memfs.agent import configured_model, reviewer
from memfs.agent.model import Model
from memfs.core.errors import MemfsError, NotFoundError
from memfs.core.privacy import excerpt
from memfs.core.records import JournalEntry, Origin
from memfs.hosts import OWN
from memfs.ingest import transcripts
from memfs.ipc import client
from memfs.ops import review as session_review
from memfs.store import (
    archive,
    blocks,
    clock,
    config,
    journal_query,
    recall,
    resources,
    reviews,
    sessions,
)
from memfs.store.blocks import Place
from memfs.store.reviews import SessionReview
from memfs.tools.tool_context import ToolContext


def run_detached(folder: str, host: str, session: str) -> None:
    """Review an ended session in this process, and write the record with any error."""
    place = None if client.is_inside() else blocks.find_serving(folder, session)
    if place is None or not configured_model.is_configured():
        return
    transcripts.drain(place.home, transcripts.Tally(), 20.0)
    if not session_review.is_due(place, host, config.load(place)):
        return
    model = configured_model.load_model()
    try:
        found = run(place, host, model)
    except Exception as error:  # noqa: BLE001 - nobody watches; the record has the error
        found = SessionReview(
            session, host, clock.now(), model.name, 0, problem=excerpt(f"{error}", 500)
        )
    finally:
        model.close()
    reviews.write_review(place.home, found)


def run(place: Place, host: str, model: Model) -> SessionReview:
    """Review the session of a place. Raises `NotFoundError` if recall does not have it."""
    path = recall.get_path(place.home, host, place.session)
    if not files.is_file(path):
        raise NotFoundError(
            f"there is no session {place.session} of {host or 'any assistant'} in recall",
            "memfs search --sessions finds them, memfs ingest reads them",
        )
    sessions.mark_once(place.home, place.session, session_review.MARK)
    messages = [message for message in recall.messages(path) if not message.side]
    prompt = resources.read_text("templates", "prompts", "background.md")
    before, passages, at = _list_edits(place), _count_passages(place), clock.now()
    origin = Origin("agent", OWN, place.session, f"review of {place.session}")
    text = problem = ""
    try:
        turn = reviewer.converse(
            place, ToolContext(place.home.top, origin, place), model, prompt, messages
        )
        text, problem = turn.text, turn.problem
    except MemfsError as error:  # its edits before the error stay
        problem = error.message
    edits = [entry for ident, entry in _list_edits(place).items() if ident not in before]
    saved = tuple((entry.label, entry.op, entry.version) for entry in edits)
    return SessionReview(
        place.session,
        host,
        at,
        model.name,
        len(messages),
        saved,
        _count_passages(place) - passages,
        text,
        problem,
    )


def _list_edits(place: Place) -> dict[str, JournalEntry]:
    """Return the edits that reviews made of this session, by id."""
    found = journal_query.list_entries(place)
    return {e.id: e for e in found if e.host == OWN and e.session == place.session}


def _count_passages(place: Place) -> int:
    return sum(len(archive.sources(store)) for store in place.stores())
