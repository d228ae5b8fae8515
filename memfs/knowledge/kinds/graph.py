"""The graph kind: the flow of conversations, what worked, and what usually comes next."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from memfs.core.errors import LockedError, NotFoundError, RejectedError
from memfs.core.privacy import storable
from memfs.core.records import Identity, Passage, Transcript
from memfs.ingest import transcripts
from memfs.knowledge.kinds import content as contents
from memfs.knowledge.kinds.options import Options
from memfs.knowledge.kinds.protocol import Capacity, Found, Metrics, Query, Relevant, State
from memfs.knowledge.session_graph import builder, intents, retention
from memfs.knowledge.session_graph.queries import DEPTH
from memfs.knowledge.session_graph.queries import SessionGraph as Flows
from memfs.knowledge.session_graph.turns import FAILED, WORKED
from memfs.recall import model_config
from memfs.search import encoder
from memfs.store import checkpoint, chunk_log, clock, lock, recall, session_outcomes
from memfs.store.session_outcomes import SessionOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memfs.core.records import Message
    from memfs.knowledge.kinds.protocol import Content
    from memfs.knowledge.session_graph.records import Flow
    from memfs.recall.index_session import IndexSession
    from memfs.search.encoder import Encoder
    from memfs.store.blocks import Place

SIMILAR = "similar_intent"
ABOUT = 0.5  # relevance from which on a flow is like another
_ARCHIVE = "graph"  # whose windows the turns are that left: there is one graph for a project
_SHOWN = 400  # characters of what was said
_MOMENT = 1.0  # seconds in which nothing new is looked for
_WEIGHED = 20  # flows that say what comes next


class Graph:
    """Turns of all sessions in recall. Messages that are stored go into recall, then into it.

    `max_depth` is how far paths go; without `patterns` none are looked for, without `outcomes`
    nothing is concluded from how turns came out. The capacity counts turns.
    """

    def __init__(
        self,
        place: Place,
        id: str = "graph",
        capacity: Capacity | None = None,
        *,
        max_depth: int = DEPTH,
        patterns: bool = True,
        outcomes: bool = True,
    ) -> None:
        self.id, self.type, self.capacity = id, "graph", capacity or Capacity()
        self._place, self._depth = place, max_depth
        self._patterns, self._outcomes = patterns, outcomes
        self._open: Flows | None = None
        self._updated = 0.0

    def store(self, content: Content, **metadata: object) -> list[str]:
        """Keep messages in recall, and note how they follow each other; return their ids."""
        session = str(metadata.get("session") or self._place.session)
        said = contents.messages(content, session)
        by_session: dict[str, list[Message]] = {}
        for message in said:
            by_session.setdefault(message.session, []).append(message)
        new = [ident for name, some in by_session.items() for ident in self._keep(name, some)]
        self.update_all(wait=lock.WAIT)
        return new

    def update_all(
        self, tick: Callable[[int], object] = lambda _: None, *, wait: float = 0.0
    ) -> int:
        """Read what is new in recall, unless another process is at it; return how many messages.

        `tick` is told of them.
        """
        with suppress(LockedError):
            done = builder.update(
                self._place.home, self._encoder(), tick, wait=wait, left=self._left
            )
            if done.messages or self.capacity.ttl:
                self._bound()
            return done.messages
        return 0

    def flows(self) -> Flows:
        """Return the graph, opened for questions, with what was new a moment ago."""
        now = time.monotonic()
        if self._open is None or now - self._updated > _MOMENT:
            self.update_all()
            self._updated = time.monotonic()
        if self._open is not None and not self._open.current():
            self._open = None  # closed when nobody asks it any more
        if self._open is None:
            self._open = Flows(self._place.home.index, self._encoder())
        return self._open

    def retrieve(self, query: Query) -> list[Found]:
        """Return flows: by id, like a text, with a pattern of steps; or the edges of a path."""
        flows = self.flows()
        if query.path:
            depth = min(query.depth or self._depth, self._depth)
            return [
                Found(
                    f"{edge.source}>{edge.target}",
                    "edge",
                    f"{edge.source} {edge.type} {edge.target}",
                    1.0,
                    metadata={
                        "source": edge.source,
                        "target": edge.target,
                        "type": edge.type,
                        "weight": edge.weight,
                    },
                )
                for edge in flows.paths(query.path, depth)
            ][: query.limit]
        if query.id:
            session, number = _named(query.id)
            some = flows.session(session)
            return [self._found(flow, 1.0) for flow in some if flow.number == number]
        intent = steps = ""
        if query.pattern == SIMILAR and query.texts:
            intent = intents.classify_message("user", "", query.texts[0])
        elif query.pattern:
            steps = f" {' '.join(query.pattern.replace(',', ' ').split())} "
        found: dict[str, Found] = {}
        for text in query.texts or ("",):
            for flow in self._like(text, query, intent):
                if steps in f" {' '.join(flow.steps)} " and _within(flow.at, query):
                    each = self._found(flow, flow.relevance)
                    found.setdefault(each.id, each)
        best = sorted(found.values(), key=lambda each: -each.relevance)
        if query.prefer_recent:
            best.sort(key=lambda each: each.at, reverse=True)
        return best[: query.limit]

    def update(self, ident: str, content: Content) -> None:
        """Refuse: what was said does not change. Raises `RejectedError`."""
        del content
        raise RejectedError(
            f"cannot change {ident}: what was said does not change",
            "say how it came out with memfs outcome",
        )

    def delete(self, ident: str) -> None:
        """Take a turn out of the graph; what was said stays in recall. Raises `NotFoundError`."""
        session, number = _named(ident)
        if not self.retrieve(Query(id=ident)):
            raise NotFoundError(f"there is no turn {ident}", "ids are flow/SESSION/NUMBER")
        session_outcomes.write_outcome(
            self._place.home, SessionOutcome(session, turn=number, gone=True)
        )
        self.update_all(wait=lock.WAIT)

    def relevant(self, state: State, query: Query) -> Relevant:
        """Return what worked in flows like this one, and what usually comes next."""
        flows = self.flows()
        texts = (state.task, *(m.text for m in state.recent if m.role == "user"), *query.texts)
        asked = next(filter(str.strip, texts), "")
        if not asked:
            return Relevant()
        intent = intents.classify_message("user", "", asked) if query.pattern == SIMILAR else ""
        every = flows.similar(asked, _WEIGHED, but=state.session, intent=intent)
        like = [flow for flow in every if _within(flow.at, query)]
        least = query.threshold or ABOUT
        good: dict[int, Found] = {}
        for flow in like:
            fixed = flows.fixed(flow) if flow.relevance >= least and self._outcomes else None
            if fixed is not None and fixed.id not in good:
                good[fixed.id] = self._found(fixed, flow.relevance, flow)
        found = tuple(good.values())[: query.limit]
        near = [flow for flow in like if flow.relevance >= least]
        steps = flows.steps(near, state.path) if near else []
        return Relevant(
            found,
            confidence=max((each.relevance for each in found), default=0.0),
            steps=tuple(step.name for step in steps),
        )

    def summarize(self) -> str:
        """Return what was talked about most, and the steps that recur."""
        flows = self.flows()
        lines = [f"- {name}: {count} turns" for name, count in flows.topics(most=10)]
        if self._patterns:
            lines += [
                f"- {' > '.join(each.steps)}: {each.turns} turns, {each.worked} worked"
                for each in flows.patterns(5)
            ]
        return "\n".join(lines)

    def compress(self) -> int:
        """Do nothing: a turn is short already, and what was said is in recall."""
        return 0

    def archive(self, older_than: str) -> int:
        """Let turns from before a time leave."""
        return self._leave(0, 0, contents.format_time(older_than))

    def metrics(self) -> Metrics:
        """Return how many turns there are."""
        held = self.flows().extent()
        return Metrics(*held)

    def outcome(self, session: str, *, worked: bool, why: str = "", turn: int = 0) -> None:
        """Say how a session (or one turn of it, from 1) came out. Raises `NotFoundError`."""
        flows = self.flows()
        named = flows.sessions(session)
        if len(named) > 1:
            raise NotFoundError(
                f"several sessions begin with {session}: {', '.join(named)} …", "name one of them"
            )
        some = flows.session(named[0]) if named else []
        if not some or (turn and all(flow.number != turn for flow in some)):
            raise NotFoundError(f"there is no session {session}", "memfs graph lists them")
        session_outcomes.write_outcome(
            self._place.home, SessionOutcome(named[0], worked, why, turn)
        )
        self.update_all(wait=lock.WAIT)

    def _keep(self, session: str, said: Sequence[Message]) -> list[str]:
        """Add messages to a session's recall file; return the ids of those that are new."""
        log = recall.RecallLog(self._place.home, contents.HOST, Identity(session, ""))
        with lock.hold_lock(self._place.home, name=transcripts.LOCK):
            state = log.load_state() or checkpoint.ReadState()
            rows = recall.encode_rows(Transcript([*said], 0, 0, 0))
            places = log.extend(state, "", rows, "").places
            recall.flush([(log, state)])
        return [said[place].id for place in places]

    def _like(self, text: str, query: Query, intent: str) -> list[Flow]:
        flows = self.flows()
        if not text.strip():
            return flows.latest(4 * query.limit)
        return flows.similar(text, 4 * query.limit, intent=intent, threshold=query.threshold)

    def _bound(self) -> None:
        bounds = self.capacity
        if bounds.bounded:
            before = contents.format_time(clock.seconds() - bounds.ttl) if bounds.ttl else ""
            self._leave(bounds.max_items, bounds.max_bytes, before)

    def _leave(self, items: int, size: int, before: str) -> int:
        log = chunk_log.ChunkLog(self._place.home, _ARCHIVE)

        def archive(rows: Sequence[retention.LeavingTurn]) -> None:
            passages = [
                Passage(
                    "",
                    storable(f"{row.prompt}\n{row.reply}"),
                    row.at or clock.now(),
                    5,
                    ("flow",),
                    row.session,
                )
                for row in rows
            ]
            metas = [
                {"path": row.path, "turn": row.number, "steps": row.steps, "why": row.why}
                for row in rows
            ]
            with log.writing():
                log.add(passages, metas)

        return retention.oldest(self._place.home, items, size, before, archive)

    def _left(self) -> list[tuple[str, int]]:
        """Return the turns that left, as the archive knows them."""
        metas = [window.meta for window in chunk_log.ChunkLog(self._place.home, _ARCHIVE).read()]
        return [(str(meta.get("path")), int(str(meta.get("turn") or 0))) for meta in metas]

    def _found(self, flow: Flow, relevance: float, asked: Flow | None = None) -> Found:
        return Found(
            f"flow/{flow.session}/{flow.number}",
            "flow",
            format_flow(flow, asked),
            relevance,
            flow.at,
            "",
            "flows",
            "what worked before",
            {
                "session": flow.session,
                "host": flow.host,
                "intent": flow.intent,
                "steps": flow.steps,
                "outcome": flow.outcome if self._outcomes else 0,
                "why": flow.why,
            },
        )

    def _encoder(self) -> Encoder | None:
        if model_config.load_wanted(self._place).off:
            return None
        return encoder.bundled()


def _named(ident: str) -> tuple[str, int]:
    """Return the session and the number in the id of a turn."""
    session, _, number = ident.removeprefix("flow/").rpartition("/")
    return session, int(number) if number.isdigit() else 0


def _within(at: str, query: Query) -> bool:
    return (not query.since or at >= query.since) and (
        not query.until or at[: len(query.until)] <= query.until
    )


def format_flow(flow: Flow, asked: Flow | None = None) -> str:
    """Return a flow in words: when it came up, and what fixed it, where something did."""
    first = asked or flow
    day = first.at[:10] or "some day"
    text = f'on {day} (session {flow.session}): "{_short(first.prompt)}"'
    if flow.outcome == WORKED and flow.reply:
        text += f"; what worked ({flow.why}): {_short(flow.reply)}"
    elif flow.outcome == FAILED:
        text += f"; it did not work: {flow.why}"
    return text


def from_config(
    kept: IndexSession, id: str, capacity: Capacity, options: Mapping[str, object]
) -> Graph:
    """Make one as it is configured."""
    with Options(id, options) as given:
        return Graph(
            kept.place,
            id,
            capacity,
            max_depth=given.number("max_depth", DEPTH),
            patterns=given.flag("pattern_detection", usual=True),
            outcomes=given.flag("outcome_tracking", usual=True),
        )


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else flat[: _SHOWN - 1] + "\u2026"
