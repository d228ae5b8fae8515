"""The graph of past sessions: their topics, outcomes and recurring patterns."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memfs.core.errors import NotFoundError, UsageError
from memfs.knowledge.kinds import registry
from memfs.knowledge.kinds.graph import Graph
from memfs.knowledge.session_graph import svg as session_graph_svg
from memfs.knowledge.session_graph.records import Flow, GraphEdge, Pattern, Step
from memfs.store.blocks import Place

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
    graph = _load_graph(place)
    flows = graph.flows()
    patterns = flows.patterns() if graph.patterns else []
    return Overview(
        flows.count_rows(),
        tuple(flows.topics(most=_TOPICS)),
        tuple(_hide_outcome(graph, flow) for flow in flows.latest(_LATEST)),
        tuple(patterns if graph.outcomes else (replace(p, worked=0, failed=0) for p in patterns)),
    )


def draw_graph(place: Place, name: str) -> GraphDrawing:
    """Return the turns of a session (by a prefix of its id), else of a topic.

    Raises `NotFoundError`.
    """
    graph = _load_graph(place)
    flows = graph.flows()
    named = flows.sessions(name)
    found = flows.session(named[0]) if named else []
    if found:
        title = f"session {found[0].session} ({found[0].host})"
    else:
        found, title = flows.list_topic_turns(name), f"topic {name}"
    if not found:
        raise NotFoundError(
            f"there is no session and no topic '{name}'", "memfs graph shows which there are"
        )
    topics = {flow.id: tuple(n for n, _ in flows.topics([flow.id], 4)) for flow in found}
    return GraphDrawing(title, tuple(_hide_outcome(graph, flow) for flow in found), topics)


def draw_svg(found: GraphDrawing) -> str:
    """Render the turns as SVG."""
    return session_graph_svg.svg(found.title, found.flows, found.topics)


def find_similar(place: Place, text: str, limit: int) -> SimilarTurns:
    """Return the turns most similar to a text."""
    graph = _load_graph(place)
    flows = graph.flows()
    like = flows.find_similar(text, max(limit, _LIKE))
    found = tuple(
        (_hide_outcome(graph, flow), flows.find_solution(flow) if graph.outcomes else None)
        for flow in like[:limit]
    )
    return SimilarTurns(found, tuple(flows.steps(like, ())))


def find_paths(place: Place, node: str, depth: int) -> list[GraphEdge]:
    """Return the edges that lead from a node on: `topic:NAME`, `message:ID`.

    The configured `max_depth` limits `depth`.
    """
    graph = _load_graph(place)
    return graph.flows().paths(node, min(depth, graph.max_depth))


def set_outcome(place: Place, session: str, *, worked: bool, why: str = "", turn: int = 0) -> None:
    """Record the outcome of a session, or of one turn. Raises `NotFoundError`."""
    Graph(place).outcome(session, worked=worked, why=why, turn=turn)


def _load_graph(place: Place) -> Graph:
    """Return the configured graph. Raises `UsageError` if its configuration is invalid."""
    graph, _ = registry.load_kind(place, "graph")
    if not isinstance(graph, Graph):
        raise UsageError("the kind of the graph is another's", "memfs doctor names the kinds")
    return graph


def _hide_outcome(graph: Graph, flow: Flow) -> Flow:
    """Return a turn, without its outcome where outcomes are not tracked."""
    return flow if graph.outcomes else replace(flow, outcome=0, why="")
