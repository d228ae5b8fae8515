"""A model reviews a session, or reflects on several, and saves with tools what they missed."""

import os
from collections.abc import Callable, Sequence
from contextlib import closing

from memfs import files
from memfs.agent import configured_model, loop
from memfs.agent.model import Model, ModelError
from memfs.context import brief_contents
from memfs.context import window_budget as budgets
from memfs.core.errors import MemfsError, NotFoundError
from memfs.core.privacy import excerpt
from memfs.core.records import JournalEntry, Message, Origin
from memfs.core.tokens import estimate
from memfs.files import atomic
from memfs.hosts import OWN
from memfs.ingest import transcripts
from memfs.ipc import client
from memfs.ops import session_review
from memfs.store import archive, blocks, clock, config, journal_query, proposals, recall, resources
from memfs.store.blocks import Place
from memfs.store.proposals import Proposal, SessionReview, StoreDraft
from memfs.tools import registry, tool_budget
from memfs.tools.tool_context import ToolContext

_SINCE = "reflected"  # local file: mtime of the newest recall file that was reviewed
MOST = 8  # sessions of one run

_TRANSCRIPT_SHARE = 0.75  # of the room; the rest is for the model's calls
_MARGIN = 1.15  # by which an endpoint may count more than we do
_EDITS = (
    "memory_read core_memory_append core_memory_replace core_memory_remove memory_create "
    "memory_rethink archival_memory_insert memory_search"
).split()


def converse(
    place: Place, context: ToolContext, model: Model, prompt: str, messages: Sequence[Message]
) -> loop.AgentTurn:
    """Let a model review messages, with the tools for editing memory."""
    settings = config.load(place)
    tools = {n: t for n, t in registry.offer_tools(context).tools.items() if n in _EDITS}
    budget = budgets.load_budget(settings)
    offered = tool_budget.fit_tools(list(tools.values()), budget.get_share("tools"))
    named = [tool.name for tool in offered]
    system = brief_contents.compose_within(place, budget.get_share("blocks"), tools=named)
    free = budget.room - estimate(system) - tool_budget.tokens(offered)
    room = int(free * _TRANSCRIPT_SHARE / _MARGIN) - estimate(prompt)
    text = prompt.replace("{conversation}", budgets.format_transcript(messages, room))
    dialogue = loop.Dialogue(offered, system, budget.response)
    rules = loop.LoopLimits(settings.number("llm.max_steps"), settings.number("llm.max_retries"))
    return loop.run_turn(model, context, tools, dialogue, text, rules)


def propose_changes(
    place: Place, model: Model, most: int, tick: Callable[[int], object], *, again: bool = False
) -> Proposal | None:
    """Let a model reflect on the sessions since the last run (`again`: the newest ones).

    Returns its proposal, None for no change. Raises `NotFoundError` where there are none.
    """
    sessions = list_sessions(place, most, again=again)
    if not sessions:
        raise NotFoundError(
            "there is no new session to review", "add --again to review the latest sessions again"
        )
    draft = StoreDraft(place)
    text = problem = ""
    done: list[tuple[str, int]] = []  # and the times of their recall files
    try:
        prompt = resources.read_text("templates", "prompts", "reflect.md")
        for path, messages in sessions:
            session = messages[0].session
            origin = Origin("agent", OWN, session, f"reflect on {session}")
            context = ToolContext(draft.place.home.top, origin, draft.place)
            try:
                turn = converse(draft.place, context, model, prompt, messages)
            except ModelError as error:
                if not done:
                    raise
                problem = error.message  # the proposal keeps the changes made before it
                break
            text, problem = turn.text or text, turn.problem
            done.append((session, _read_mtime(path)))
            tick(1)
            if problem:
                break
        names = tuple(session for session, _ in done)
        found = draft.save_proposal(model.name, names, text, problem)
    except BaseException:
        draft.discard()
        raise
    if found is None:
        draft.discard()
    if done and not again:
        latest = max(when for _, when in done)
        atomic.write(_mark_path(place), f"{latest}", private=True, durable=False)
    return found


def list_sessions(
    place: Place, most: int, *, again: bool = False
) -> list[tuple[str, list[Message]]]:
    """Return the sessions to reflect on, the oldest first, as (recall file, messages).

    Side chains, and sessions with fewer prompts than a review needs, are left out.
    """
    least = config.load(place).number("review.min_messages")
    mark = (files.read(_mark_path(place)) or "").strip()
    since = int(mark) if mark.isdigit() and not again else 0
    paths = [path for path in recall.sources(place.home) if ".agent-" not in os.path.basename(path)]
    newer = [path for path in paths if _read_mtime(path) > since]
    found = []
    for path in sorted(newer, key=_read_mtime):
        messages = list(recall.messages(path))
        if sum(message.role == "user" for message in messages) >= max(1, least):
            found.append((path, messages))
    return found[-most:] if again else found[:most]


def _read_mtime(path: str) -> int:
    found = files.status(path)
    return found.st_mtime_ns if found else 0


def _mark_path(place: Place) -> str:
    return f"{place.home.local}/{_SINCE}"


def get_origin() -> Origin:
    """Return the origin of edits from a proposal that is taken without a person."""
    return Origin("agent", OWN, "", f"reflect, {clock.now()[:10]}")


def run_detached(folder: str, host: str, session: str) -> None:
    """Review an ended session in this process, and write the record with any error."""
    place = None if client.is_inside() else blocks.find_serving(folder, session)
    if place is None or not config.names_model():
        return
    transcripts.drain(place.home, transcripts.Tally(), 20.0)
    if not session_review.is_due(place, host, config.load(place)):
        return
    with closing(configured_model.load_model()) as model:
        try:
            found = review_session(place, host, model)
        except Exception as error:  # noqa: BLE001 - nobody watches; the record has the error
            why = excerpt(f"{error}", 500)
            found = SessionReview(session, host, clock.now(), model.name, 0, problem=why)
    proposals.write_review(place.home, found)


def review_session(place: Place, host: str, model: Model) -> SessionReview:
    """Review the session of a place. Raises `NotFoundError` if recall does not have it."""
    path = recall.get_path(place.home, host, place.session)
    if not files.is_file(path):
        raise NotFoundError(
            f"recall has no session {place.session} from {host or 'any assistant'}",
            "find sessions with memfs search --sessions, or read transcripts with memfs ingest",
        )
    session_review.mark_reviewed(place, host)
    messages = [message for message in recall.messages(path) if not message.side]
    prompt = resources.read_text("templates", "prompts", "background.md")
    before, passages, at = _list_edits(place), _count_passages(place), clock.now()
    origin = Origin("agent", OWN, place.session, f"review of {place.session}")
    text = problem = ""
    try:
        turn = converse(place, ToolContext(place.home.top, origin, place), model, prompt, messages)
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
