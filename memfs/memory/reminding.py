"""What a prompt brings to mind, from all kinds of memory, where the index is warm.

Passages, past exchanges, facts and static entries come from one search (see `search.relevance`).
When a task or an error comes back that was solved before, the graph says when, and what worked.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from memfs.core.errors import StoreError
from memfs.core.records import Hit
from memfs.memory.flow import intents
from memfs.memory.flow.graph import MOST_TOPICS
from memfs.memory.kinds import graph
from memfs.search import reminder, warm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.memory.flow.flows import Flow
    from memfs.memory.flow.graph import Graph
    from memfs.search.engine import Engine
    from memfs.search.reminder import Recalled
    from memfs.search.warm import Looked

CAME_BACK = 0.72  # relevance from which on a prompt asks what another one asked
_NEAREST = 4  # prompts that are looked at
_ASKS = ("request", "problem", "question")  # what can come back


def find(
    engine: Engine, flows: Graph | None, prompt: str, session: str, shown: Sequence[str], limit: int
) -> Sequence[Hit | Recalled]:
    """Return at most `limit` of what a prompt is about, what was solved before first."""
    if engine.vectors is None:
        return reminder.by_words(engine.text, prompt, session, shown, limit)
    looked = warm.look(engine, prompt, session) if limit > 0 else None
    if looked is None:
        return []
    again = None
    if flows is not None and intents.of("user", "", prompt) in _ASKS:
        with suppress(StoreError):  # it is damaged, or locked: the next update mends it
            again = came_back(flows, looked, session, shown)
    rest = warm.chosen(engine, looked, session, shown, limit - (again is not None))
    if again is None:
        return rest
    return [again, *(hit for hit in rest if hit.session != again.session)]


def came_back(flows: Graph, looked: Looked, session: str, shown: Sequence[str]) -> Hit | None:
    """Return what was wanted before as it is now, and what worked then; None where nothing is."""
    for flow in _like(flows, looked, session):
        fixed = flows.fixed(flow)
        if fixed is not None and _id(flow) not in shown:
            return _again(flow, fixed)
    return None


def _like(flows: Graph, looked: Looked, session: str) -> list[Flow]:
    """Return the turns of other sessions that asked the same and were solved, of the nearest."""
    told = looked.told
    cosines = told.found.cosine
    near = [place for place in told.found.order if cosines[place] >= CAME_BACK - MOST_TOPICS]
    near.sort(key=lambda place: -cosines[place])
    found: dict[int, float] = {}
    for place in near[:_NEAREST]:
        document = told.document(place)
        if document is None or document.get_first("role") != "user":
            continue
        host, _, rest = str(document.get_first("id")).partition("/")
        name = str(document.get_first("session"))
        turn = flows.solved(host, name, rest.removeprefix(f"{name}/")) if name != session else 0
        if turn:
            found[turn] = max(cosines[place], found.get(turn, 0.0))
    return flows.weighed(looked.asked.prompt, found, CAME_BACK)


def _again(flow: Flow, fixed: Flow) -> Hit:
    said = graph.told(fixed, flow)
    why = (f"asked before, {flow.relevance:.2f} alike", fixed.why)
    return Hit(
        _id(flow), "flow", said, f"this came up {said}", why, flow.relevance, flow.at,
        host=flow.host, session=flow.session,
    )  # fmt: skip


def _id(flow: Flow) -> str:
    return f"flow/{flow.session}/{flow.number}"
