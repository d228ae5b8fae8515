"""What the graph answers with: turns, the steps in them, and edges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Flow:
    """One turn of a past session: what was wanted, what was done, and how it came out.

    `steps` are kinds of tool calls, a failed check with `!`. `outcome` is 1 (it worked), 0 (nobody
    knows) or -1; `why` says what tells so. `relevance` is 0 to 1.
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
    """Steps that came after each other more than once: in so many turns, of which some worked."""

    steps: tuple[str, ...]
    turns: int
    worked: int
    failed: int


@dataclass(frozen=True)
class Step:
    """What usually came next: in how many of the flows that are alike, and of those that worked."""

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
    """Return a row of the database as a turn."""
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
    """Return a turn with a relevance."""
    return replace(flow, relevance=round(max(0.0, min(1.0, score)), 4))


def is_requested(flow: Flow, but: str, outcome: int | None, intent: str, session: str) -> bool:
    """Tell whether a turn is one of those that are asked for."""
    return (
        (not but or flow.session != but)
        and (outcome is None or flow.outcome == outcome)
        and intent in ("", flow.intent)
        and session in ("", flow.session)
    )
