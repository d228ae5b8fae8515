"""The graph kind: the flow of conversations, what worked, and what usually comes next."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from memfs.context.pieces import Found
from memfs.core.errors import LockedError, NotFoundError
from memfs.core.records import Identity, Message, Transcript
from memfs.knowledge.kinds import base
from memfs.knowledge.kinds import content as contents
from memfs.knowledge.kinds.base import BaseKind, Choose, Form
from memfs.knowledge.kinds.protocol import Capacity, Content, Metrics, Query, Relevant, State
from memfs.knowledge.session_graph import builder, database, intents
from memfs.knowledge.session_graph.queries import DEPTH, SessionGraph, find_steps
from memfs.knowledge.session_graph.turns import FAILED, WORKED, Flow
from memfs.recall import model_config
from memfs.search import encoder
from memfs.search.encoder import Encoder
from memfs.store import lock, message_records, recall, session_outcomes
from memfs.store.blocks import Place
from memfs.store.session_outcomes import SessionOutcome

if TYPE_CHECKING:
    from memfs.recall.open_store import OpenStore

SIMILAR = "similar_intent"
ABOUT = 0.5  # least relevance of a similar flow
_SHOWN = 400  # characters of a prompt or a reply
_MOMENT = 1.0  # seconds between two updates by queries
_WEIGHED = 20  # flows that predict the next steps


class Graph(BaseKind[Flow]):
    """Turns of all sessions in recall. Stored messages go into recall, then into the graph.

    `max_depth` is the longest path; without `patterns` none are listed, without `outcomes` those
    of turns are ignored. The capacity counts turns. They are found by their ids, by similarity to a
    text and by their steps; of a `path` its edges are.
    """

    type = "graph"
    OPTIONS: ClassVar[Mapping[str, Form]] = {
        "max_depth": base.NUMBER,
        "pattern_detection": base.FLAG,
        "outcome_tracking": base.FLAG,
    }
    _WHY_FIXED = (
        "cannot change '{}': past sessions do not change",
        "run memfs session outcome to record whether a session worked",
    )

    def __init__(
        self,
        place: Place,
        id: str = "graph",
        capacity: Capacity | None = None,
        *,
        max_depth: int = DEPTH,
        patterns: bool = True,
        outcomes: bool = True,
        index: OpenStore | None = None,
    ) -> None:
        super().__init__(place, id, capacity, index)
        self.max_depth, self.patterns, self.outcomes = max_depth, patterns, outcomes
        self._open: SessionGraph | None = None
        self._updated = 0.0

    def store(self, content: Content, **metadata: object) -> list[str]:
        """Store messages in recall, and update the graph; return the ids of the new ones."""
        session = str(metadata.get("session") or self.place.session)
        by_session: dict[str, list[Message]] = {}
        for message in contents.messages(content, session):
            by_session.setdefault(message.session, []).append(message)
        new = [ident for name, some in by_session.items() for ident in self._append(name, some)]
        self.update_all(wait=lock.WAIT)
        return new

    def update_all(
        self, tick: Callable[[int], object] = lambda _: None, *, wait: float = 0.0
    ) -> int:
        """Read new messages from recall; return how many, 0 if another process does."""
        with suppress(LockedError):
            done = builder.update(self.place.home, self._encoder(), tick, wait=wait)
            if done or self.capacity.ttl:
                self._enforce_capacity()
            return done
        return 0

    def flows(self) -> SessionGraph:
        """Return the open graph, updated at most a second ago."""
        now = time.monotonic()
        if self._open is None or now - self._updated > _MOMENT:
            self.update_all()
            self._updated = time.monotonic()
        if self._open is not None and not self._open.is_current():
            self._open = None  # it is closed with its last reference
        if self._open is None:
            self._open = SessionGraph(self.place.home.index, self._encoder())
        return self._open

    def close(self) -> None:
        """Close the database; the next query opens it again."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def delete(self, ident: str) -> None:
        """Remove a turn from the graph; its messages stay in recall. Raises `NotFoundError`."""
        session, number = _parse_turn_id(ident)
        if not self._get(ident):
            raise NotFoundError(
                f"no turn has the id {ident}", "write the id as flow/SESSION/NUMBER"
            )
        self._write_outcome(SessionOutcome(session, turn=number, gone=True))

    def relevant(self, state: State, query: Query) -> Relevant:
        """Return the solutions of similar flows, and the steps that usually come next."""
        flows = self.flows()
        texts = (state.task, *(m.text for m in state.recent if m.role == "user"), *query.texts)
        text = next(filter(str.strip, texts), "")
        if not text:
            return Relevant()
        intent = intents.classify_message("user", "", text) if query.pattern == SIMILAR else ""
        every = flows.find_similar(text, _WEIGHED, but=state.session, intent=intent)
        like = [flow for flow in every if _is_in_period(flow.at, query)]
        least = query.threshold or ABOUT
        good: dict[int, Found] = {}
        for flow in like:
            fix = flows.find_solution(flow) if flow.relevance >= least and self.outcomes else None
            if fix is not None and fix.id not in good:
                good[fix.id] = self._make_found(fix, flow.relevance, flow)
        found = tuple(good.values())[: query.limit]
        near = [flow for flow in like if flow.relevance >= least]
        steps = find_steps(near, state.path) if near else []
        return Relevant(
            found,
            confidence=max((each.relevance for each in found), default=0.0),
            steps=tuple(step.name for step in steps),
        )

    def summarize(self) -> str:
        """Return the most frequent topics and the recurring sequences of steps."""
        flows = self.flows()
        lines = [f"- {name}: {count} turns" for name, count in flows.topics(most=10)]
        if self.patterns:
            lines += [
                f"- {' > '.join(each.steps)}: {each.turns} turns, {each.worked} worked"
                for each in flows.patterns(5)
            ]
        return "\n".join(lines)

    def metrics(self) -> Metrics:
        return Metrics(*self.flows().measure())

    def outcome(self, session: str, *, worked: bool, why: str = "", turn: int = 0) -> None:
        """Set the outcome of a session, or of one turn (from 1). Raises `NotFoundError`."""
        flows = self.flows()
        named = flows.sessions(session) if session else []
        if len(named) > 1:
            raise NotFoundError(
                f"several session ids start with {session}: {', '.join(named)} …",
                "give the full id of one session",
            )
        some = flows.session(named[0]) if named else []
        if not some or (turn and all(flow.number != turn for flow in some)):
            what = (
                f"session {session} has no turn {turn}"
                if some
                else f"no session has the id {session}"
            )
            raise NotFoundError(what, "list the sessions: memfs graph")
        self._write_outcome(SessionOutcome(named[0], bool(worked), why, turn))

    def _write_outcome(self, outcome: SessionOutcome) -> None:
        session_outcomes.write_outcome(self.place.home, outcome)
        self.update_all(wait=lock.WAIT)

    def _append(self, session: str, messages: Sequence[Message]) -> list[str]:
        log = recall.RecallLog(self.place.home, contents.HOST, Identity(session, ""))
        with lock.hold_lock(self.place.home, name=lock.INGEST):
            state = log.load_state() or message_records.ReadState()
            rows = recall.encode_rows(Transcript([*messages], 0, 0, 0))
            places = log.extend(state, "", rows, "").places
            recall.flush([(log, state)])
        return [messages[place].id for place in places]

    def _get(self, ident: str) -> list[Found]:
        session, number = _parse_turn_id(ident)
        some = self.flows().session(session)
        return [self._make_found(flow, 1.0) for flow in some if flow.number == number]

    def _find(self, query: Query) -> list[Found]:
        if query.path:
            return self._list_edges(query)
        intent = steps = ""
        if query.pattern == SIMILAR and query.texts:
            intent = intents.classify_message("user", "", query.texts[0])
        elif query.pattern in intents.USER or self.flows().latest(1, query.pattern):
            intent = query.pattern
        elif query.pattern:
            steps = f" {' '.join(query.pattern.replace(',', ' ').split())} "
        found: dict[str, Found] = {}
        flows, most = self.flows(), 4 * query.limit
        for text in query.texts or ("",):
            like = (
                flows.find_similar(text, most, intent=intent, threshold=query.threshold)
                if text
                else flows.latest(most, intent)
            )
            for flow in like:
                if steps in f" {' '.join(flow.steps)} " and _is_in_period(flow.at, query):
                    each = self._make_found(flow, flow.relevance)
                    found.setdefault(each.id, each)
        return sorted(found.values(), key=lambda each: -each.relevance)

    def _list_edges(self, query: Query) -> list[Found]:
        depth = min(query.depth or self.max_depth, self.max_depth)
        return [
            Found(
                f"{edge.source}>{edge.target}",
                "edge",
                f"{edge.source} {edge.type} {edge.target}",
                1.0,
                metadata=vars(edge),
            )
            for edge in self.flows().paths(query.path, depth)
        ]

    def _evict(self, choose: Choose) -> int:
        return database.archive_oldest(self.place.home, choose)

    def _make_found(self, item: Flow, relevance: float, similar: Flow | None = None) -> Found:
        metadata = {name: getattr(item, name) for name in "session host intent steps why".split()}
        return Found(
            f"flow/{item.session}/{item.number}",
            "flow",
            format_flow(item, similar),
            relevance,
            item.at,
            group="flows",
            head="what worked before",
            metadata=metadata | {"outcome": item.outcome if self.outcomes else 0},
        )

    def _encoder(self) -> Encoder | None:
        off = model_config.load_wanted_model(self.place).off
        return None if off else encoder.load_bundled()


def _parse_turn_id(ident: str) -> tuple[str, int]:
    session, _, number = ident.removeprefix("flow/").rpartition("/")
    return session, int(number) if number.isdigit() else 0


def _is_in_period(at: str, query: Query) -> bool:
    return (not query.since or at >= query.since) and (
        not query.until or at[: len(query.until)] <= query.until
    )


def format_flow(flow: Flow, similar: Flow | None = None) -> str:
    """Describe a flow: its date, its prompt (or that of `similar`), and how it came out."""
    first = similar or flow
    day = first.at[:10] or "some day"
    text = f'on {day} (session {flow.session}): "{_shorten(first.prompt)}"'
    if flow.outcome == WORKED and flow.reply:
        text += f"; what worked ({flow.why}): {_shorten(flow.reply)}"
    elif flow.outcome == FAILED:
        text += f"; it did not work: {flow.why}"
    return text


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else flat[: _SHOWN - 1] + "\u2026"
