"""The graph of past sessions: their topics, outcomes and recurring patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from memfs.core.errors import NotFoundError, UsageError
from memfs.core.escaping import make_plain
from memfs.ipc import service_query
from memfs.knowledge.session_graph.turns import FAILED, WORKED, Flow, GraphEdge, Pattern, Step
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from memfs.knowledge.kinds.graph import Graph
    from memfs.recall.open_store import OpenStore

Answer = TypeVar("Answer")

_WIDTH, _ROW, _TOP, _LEFT = 960, 92, 56, 150
_BOX = 560
_COLOURS = {WORKED: "#2e7d32", FAILED: "#c62828", 0: "#607d8b"}
_LETTERS, _TOPIC_WIDTH = 70, 27  # of a line in a box, and beside it
_MOST_STEPS = 14

_LATEST = 10  # turns of an overview
_TOPICS = 12
_LIKE = 20  # flows from which the next steps are predicted


@dataclass(frozen=True)
class Overview:
    """All sessions together: counts, topics, latest turns and recurring patterns."""

    counts: dict[str, int]
    topics: tuple[tuple[str, int], ...]
    latest: tuple[Flow, ...]
    patterns: tuple[Pattern, ...]


@dataclass(frozen=True)
class GraphDrawing:
    """The turns of a session or of a topic, with the topics of each, by its id."""

    title: str
    flows: tuple[Flow, ...]
    topics: dict[int, tuple[str, ...]]


@dataclass(frozen=True)
class SimilarTurns:
    """Turns similar to a text, each with the turn that fixed it (or None), and the next steps."""

    flows: tuple[tuple[Flow, Flow | None], ...]
    steps: tuple[Step, ...]


def load_overview(place: Place) -> Overview:
    """Return the overview of all sessions."""
    return _query(place, Overview, "overview")


def draw_graph(place: Place, name: str) -> GraphDrawing:
    """Return the turns of a session (by a prefix of its id), else of a topic.

    Raises `NotFoundError`.
    """
    return _query(place, GraphDrawing, "drawing", name)


def find_similar(place: Place, text: str, limit: int) -> SimilarTurns:
    """Return the turns most similar to a text."""
    return _query(place, SimilarTurns, "similar", text, limit)


def find_paths(place: Place, node: str, depth: int) -> list[GraphEdge]:
    """Return the edges that lead from a node on: `topic:NAME`, `message:ID`.

    The configured `max_depth` limits `depth`.
    """
    return _query(place, list[GraphEdge], "paths", node, depth)


def answer(store: OpenStore, _session: str, name: str, *words: Any) -> object:
    """Answer the query of another process (see `service_query`). Raises `MemfsError`."""
    return _QUERIES[name](_load_graph(store.place), *words)


def _query(place: Place, form: type[Answer], name: str, *words: object) -> Answer:
    told = service_query.ask("graph", place, [name, *words], form)
    found: Answer = _QUERIES[name](_load_graph(place), *words) if told is None else told
    return found


def _load_overview(graph: Graph) -> Overview:
    flows = graph.flows()
    patterns = flows.patterns() if graph.patterns else []
    return Overview(
        flows.count_rows(),
        tuple(flows.topics(most=_TOPICS)),
        tuple(_hide_outcome(graph, flow) for flow in flows.latest(_LATEST)),
        tuple(patterns if graph.outcomes else (replace(p, worked=0, failed=0) for p in patterns)),
    )


def _draw_graph(graph: Graph, name: str) -> GraphDrawing:
    flows = graph.flows()
    named = flows.sessions(name)
    found = flows.session(named[0]) if named else []
    if found:
        title = f"session {found[0].session} ({found[0].host})"
    else:
        found, title = flows.list_topic_turns(name), f"topic {name}"
    if not found:
        raise NotFoundError(
            f"there is no session or topic '{name}'", "list sessions and topics: memfs graph"
        )
    topics = {flow.id: tuple(n for n, _ in flows.topics([flow.id], 4)) for flow in found}
    return GraphDrawing(title, tuple(_hide_outcome(graph, flow) for flow in found), topics)


def _find_similar(graph: Graph, text: str, limit: int) -> SimilarTurns:
    from memfs.knowledge.session_graph.queries import find_steps  # with numpy

    flows = graph.flows()
    like = flows.find_similar(text, max(limit, _LIKE))
    found = tuple(
        (_hide_outcome(graph, flow), flows.find_solution(flow) if graph.outcomes else None)
        for flow in like[:limit]
    )
    return SimilarTurns(found, tuple(find_steps(like, ())))


_QUERIES: dict[str, Callable[..., Any]] = {
    "overview": _load_overview,
    "drawing": _draw_graph,
    "similar": _find_similar,
    "paths": lambda graph, node, depth: graph.flows().paths(node, min(depth, graph.max_depth)),
}


def set_outcome(place: Place, session: str, *, worked: bool, why: str = "", turn: int = 0) -> None:
    """Record the outcome of a session, or of one turn. Raises `NotFoundError`."""
    from memfs.knowledge.kinds.graph import Graph  # with the engine

    Graph(place).outcome(session, worked=worked, why=why, turn=turn)


def _load_graph(place: Place) -> Graph:
    from memfs.knowledge.kinds import registry  # with the engine
    from memfs.knowledge.kinds.graph import Graph  # likewise

    graph, _ = registry.load_kind(place, "graph")
    if not isinstance(graph, Graph):
        raise UsageError(
            "the graph is not available: another package has replaced the built-in graph",
            "see which package: memfs doctor",
        )
    return graph


def _hide_outcome(graph: Graph, flow: Flow) -> Flow:
    """Return a turn, without its outcome where outcomes are not tracked."""
    return flow if graph.outcomes else replace(flow, outcome=0, why="")


def draw_svg(found: GraphDrawing) -> str:
    """Return an SVG with a connected box for each turn: time, intent, prompt, steps, outcome."""
    height = _TOP + _ROW * max(1, len(found.flows)) + 24
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
            f'viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="13">'
        ),
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="20" y="32" font-size="17" font-weight="bold">{_escape(found.title, 100)}</text>',
    ]
    for place, flow in enumerate(found.flows):
        y = _TOP + place * _ROW
        if place:
            parts.append(
                f'<line x1="{_LEFT + 24}" y1="{y - _ROW + 64}" x2="{_LEFT + 24}" y2="{y}" '
                'stroke="#90a4ae" stroke-width="2"/>'
            )
        parts += _render_box(flow, y, found.topics.get(flow.id, ()))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _render_box(flow: Flow, y: int, topics: Sequence[str]) -> list[str]:
    colour = _COLOURS[flow.outcome]
    steps = " \u2192 ".join(flow.steps[:_MOST_STEPS])
    steps += " \u2026" if len(flow.steps) > _MOST_STEPS else ""
    when = flow.at[:16].replace("T", " ")
    return [
        f'<text x="20" y="{y + 20}" fill="#546e7a">{_escape(when, 20)}</text>',
        f'<text x="20" y="{y + 40}" fill="#546e7a">{_escape(flow.intent, 16)}</text>',
        (
            f'<rect x="{_LEFT}" y="{y}" width="{_BOX}" height="64" rx="6" fill="#f5f7f8" '
            f'stroke="{colour}" stroke-width="2"/>'
        ),
        f'<text x="{_LEFT + 12}" y="{y + 20}">{_escape(flow.prompt, _LETTERS)}</text>',
        f'<text x="{_LEFT + 12}" y="{y + 38}" fill="#455a64">{_escape(steps, _LETTERS)}</text>',
        f'<text x="{_LEFT + 12}" y="{y + 56}" fill="{colour}">{_escape(flow.why, 60)}</text>',
        (
            f'<text x="{_LEFT + _BOX + 16}" y="{y + 20}" fill="#37474f">'
            f"{_escape(', '.join(topics), _TOPIC_WIDTH)}</text>"
        ),
    ]


def _escape(text: str, most: int) -> str:
    from html import escape  # of a drawing alone

    flat = " ".join(make_plain(text).split())
    return escape(flat if len(flat) <= most else flat[: most - 1] + "\u2026")
