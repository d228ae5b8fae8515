"""Reflect between sessions: a model looks over several of them, in a draft of the store.

What it changes there is a proposal, which a person takes or drops (`ops.reflect`).
"""

from __future__ import annotations

import os
from collections.abc import Callable

from memfs import files
from memfs.agent import reviewer
from memfs.agent.model import Model, ModelError
from memfs.core.errors import NotFoundError
from memfs.core.records import Message, Origin
from memfs.files import atomic
from memfs.hosts import OWN
from memfs.store import clock, config, recall, resources
from memfs.store.blocks import Place
from memfs.store.proposals import Proposal, StoreDraft
from memfs.tools.tool_context import ToolContext

_SINCE = "reflected"  # local file: mtime of the newest recall file that was reviewed
MOST = 8  # sessions of one run


def run(
    place: Place, model: Model, most: int, tick: Callable[[int], object], *, again: bool = False
) -> Proposal | None:
    """Let a model reflect on the sessions since the last run (`again`: the newest ones).

    Returns its proposal, None for no change. Raises `NotFoundError` where there are none.
    """
    sessions = list_sessions(place, most, again=again)
    if not sessions:
        raise NotFoundError(
            "there is no session that was not looked at", "--again takes the latest ones"
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
                turn = reviewer.converse(draft.place, context, model, prompt, messages)
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
    """Return the mtime of a recall file in ns, 0 if there is none."""
    found = files.status(path)
    return found.st_mtime_ns if found else 0


def _mark_path(place: Place) -> str:
    return f"{place.home.local}/{_SINCE}"


def get_origin() -> Origin:
    """Return the origin of edits from a proposal that is taken without a person."""
    return Origin("agent", OWN, "", f"reflect, {clock.now()[:10]}")
