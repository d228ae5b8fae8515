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
from memfs.memory.kinds import graph
from memfs.search import relevance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.memory.flow.flows import Flow
    from memfs.memory.flow.graph import Graph
    from memfs.search.engine import Engine
    from memfs.search.reminder import Recalled

CAME_BACK = 0.72  # relevance from which on a prompt asks what another one asked
_ASKS = ("request", "problem", "question")  # what can come back
_FEWEST = 4  # words of a prompt that say what it is about


def find(
    engine: Engine, flows: Graph | None, prompt: str, session: str, shown: Sequence[str], limit: int
) -> Sequence[Hit | Recalled]:
    """Return at most `limit` of what a prompt is about, what was solved before first."""
    again = None
    if flows is not None and limit:
        with suppress(StoreError):  # it is damaged, or locked: the next update mends it
            again = came_back(flows, prompt, session, shown)
    rest = relevance.find(engine, prompt, session, shown, limit - bool(again))
    if again is None:
        return rest
    return [again, *(hit for hit in rest if getattr(hit, "session", "") != again.session)]


def came_back(flows: Graph, prompt: str, session: str, shown: Sequence[str]) -> Hit | None:
    """Return what was wanted before as it is now, and what worked then; None where nothing is."""
    asks = intents.of("user", "", prompt) in _ASKS
    if not asks or len(prompt.split()) < _FEWEST:
        return None
    for flow in flows.similar(prompt, 5, but=session, threshold=CAME_BACK):
        fixed = flows.fixed(flow)
        if fixed is not None and _id(flow) not in shown:
            return _again(flow, fixed)
    return None


def _again(flow: Flow, fixed: Flow) -> Hit:
    said = graph.told(fixed, flow)
    why = (f"asked before, {flow.relevance:.2f} alike", fixed.why)
    return Hit(
        _id(flow), "flow", said, f"this came up {said}", why, flow.relevance, flow.at,
        host=flow.host, session=flow.session,
    )  # fmt: skip


def _id(flow: Flow) -> str:
    return f"flow/{flow.session}/{flow.number}"
