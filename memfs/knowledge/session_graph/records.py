"""Results of graph queries: turns, steps and edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Flow:
    """One turn of a past session: its prompt, its steps, and its outcome.

    `steps` are kinds of tool calls, a failed check with `!`. `outcome` is 1 (it worked), 0
    (unknown) or -1 (it failed), `why` the evidence for it. `relevance` is 0 to 1.
    """

    id: int
    session: str
    host: str
    project: str
    number: int
    at: str
    intent: str
    prompt: str
    reply: str
    steps: tuple[str, ...]
    outcome: int
    why: str
    relevance: float = 0.0


@dataclass(frozen=True)
class Pattern:
    """A recurring sequence of steps, with the numbers of turns that have it, worked and failed."""

    steps: tuple[str, ...]
    turns: int
    worked: int
    failed: int


@dataclass(frozen=True)
class Step:
    """A next step: its share of similar flows, and the number of those that worked."""

    name: str
    share: float
    worked: int


@dataclass(frozen=True)
class GraphEdge:
    """One edge; nodes are `message:ID` or `topic:NAME`."""

    source: str
    target: str
    type: str
    weight: float


def of_row(row: Sequence[object]) -> Flow:
    """Convert a database row to a turn."""
    ident, name, host, project, number, at, intent, prompt, reply, steps, outcome, why, *_ = row
    return Flow(
        int(str(ident)),
        str(name),
        str(host),
        str(project),
        int(str(number)),
        str(at),
        str(intent),
        str(prompt),
        str(reply),
        tuple(str(steps).split()),
        int(str(outcome)),
        str(why),
    )


def with_relevance(flow: Flow, score: float) -> Flow:
    """Return a turn with its relevance, limited to 0 to 1."""
    return replace(flow, relevance=round(max(0.0, min(1.0, score)), 4))


def is_requested(flow: Flow, but: str, outcome: int | None, intent: str, session: str) -> bool:
    """Return whether a turn matches all conditions."""
    return (
        (not but or flow.session != but)
        and (outcome is None or flow.outcome == outcome)
        and intent in ("", flow.intent)
        and session in ("", flow.session)
    )
