"""Queries of the graph: similar turns, outcomes, recurring patterns, the steps that followed."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np

from memfs import files
from memfs.files import signatures
from memfs.knowledge.session_graph import database, intents
from memfs.knowledge.session_graph.turns import FAILED, WORKED, Flow, GraphEdge, Pattern, Step
from memfs.search import exact_search, vector_layout

if TYPE_CHECKING:
    from memfs.search.encoder import Encoder

_LONGEST, _SHORTEST = 5, 2  # steps of a pattern
_SUFFIX = 4  # last steps of a path that predict the next one
DEPTH = 10  # edges of a path
_POOL = 50  # candidate turns of a search
_TOPIC = 0.1  # score that a shared topic adds to a cosine
_MOST_TOPICS = 0.3
_MANY = 2000  # turns; a topic of more is ignored
_NODES = 400  # nodes that a walk visits
_STEPS = 9  # the column of the steps in
_FLOWS = (  # in the order of the fields of `Flow`
    "SELECT t.id, s.name, s.host, s.project, t.number, t.at, t.intent, t.prompt, t.reply, t.steps, "
    "CASE WHEN t.told != 0 THEN t.told ELSE t.outcome END, CASE WHEN t.told = 0 THEN t.why WHEN "
    "t.told_why = '' THEN 'you said so' ELSE t.told_why END "
    "FROM turn t JOIN session s ON s.id = t.session "
)


class SessionGraph:
    """The graph in an index folder, opened for queries. Thread-safe."""

    def __init__(self, folder: str, encoder: Encoder | None) -> None:
        self._folder, self._encoder = folder, encoder
        self._lock = threading.Lock()
        self._db: sqlite3.Connection = database.open_database(folder)
        self._signature = signatures.sign_file(f"{folder}/{database.FILE}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if db := getattr(self, "_db", None):  # it was replaced, and has no user any more
            db.close()

    def close(self) -> None:
        self._db.close()

    def is_current(self) -> bool:
        """Return whether the file on disk is still the open one: a rebuild replaces it."""
        now, then = signatures.sign_file(f"{self._folder}/{database.FILE}"), self._signature
        return now is not None and then is not None and now[0] == then[0]

    def count_rows(self) -> dict[str, int]:
        tables = ("session", "message", "turn", "topic")
        return {name: self._query(f"SELECT count(*) FROM {name}")[0][0] for name in tables}  # noqa: S608

    def find_similar(
        self, text: str, limit: int = 5, *, but: str = "", intent: str = "", threshold: float = 0.0
    ) -> list[Flow]:
        """Return the turns whose prompts are most similar to a text, the most similar first.

        Leaves out the session `but`. Compares vectors and topics; topics alone without vectors.
        """
        near = self._find_by_meaning(text) or self._find_by_topics(text)
        return [
            flow
            for flow in self._rank(text, near, threshold)
            if (not but or flow.session != but) and intent in ("", flow.intent)
        ][:limit]

    def _rank(self, text: str, near: Mapping[int, float], threshold: float) -> list[Flow]:
        """Return turns of at least `threshold`, by cosine (`near`) and shared topics."""
        near = {turn: cosine for turn, cosine in near.items() if cosine + _MOST_TOPICS >= threshold}
        shared = self._weigh_shared_topics(text, list(near)) if near else {}
        scores = {
            turn: cosine + min(_MOST_TOPICS, _TOPIC * shared.get(turn, 0.0))
            for turn, cosine in near.items()
        }
        best = [turn for turn in scores if scores[turn] >= threshold]
        some = self._list_flows(f"WHERE t.id IN ({_make_marks(best)})", *best) if best else []
        found = [
            replace(flow, relevance=round(max(0.0, min(1.0, scores[flow.id])), 4)) for flow in some
        ]
        return sorted(found, key=lambda flow: (-flow.relevance, -flow.id))

    def find_solution(self, flow: Flow) -> Flow | None:
        """Return the turn that solved the request of `flow`: itself, a later one, or None."""
        if flow.outcome == WORKED and flow.reply:
            return flow
        found = self._list_flows(
            "JOIN turn me ON me.id = ? WHERE t.session = me.session AND t.chain = me.chain "
            f"AND t.number > me.number AND {database.WORKED.format('t.')} "
            "ORDER BY t.number LIMIT 1",
            flow.id,
        )
        return found[0] if found and flow.outcome != WORKED else None

    def sessions(self, beginning: str, most: int = 3) -> list[str]:
        """Return the names of sessions with this prefix; an exact match alone."""
        escaped = "".join(f"[{c}]" if c in "*?[" else c for c in beginning)
        rows = self._query(
            "SELECT DISTINCT name FROM session WHERE name = ?1 OR name GLOB ?2 "
            "ORDER BY name != ?1, name LIMIT ?3",
            (beginning, f"{escaped}*", most),
        )
        names = [str(name) for (name,) in rows]
        return names[:1] if beginning in names else names

    def session(self, name: str) -> list[Flow]:
        return self._list_flows("WHERE s.name = ? ORDER BY s.began, t.session, t.number", name)

    def list_topic_turns(self, name: str) -> list[Flow]:
        return self._list_flows(
            "JOIN discusses d ON d.turn = t.id JOIN topic o ON o.id = d.topic "
            "WHERE o.name = ? ORDER BY t.at, t.id",
            name.lower(),
        )

    def topics(self, turns: Sequence[int] | None = None, most: int = 20) -> list[tuple[str, int]]:
        where, given = "", tuple[int, ...]()
        if turns is not None:
            where, given = f"WHERE d.turn IN ({_make_marks(turns)})", tuple(turns)
        rows = self._query(
            "SELECT o.name, count(*) AS many FROM discusses d JOIN topic o ON o.id = d.topic "  # noqa: S608
            f"{where} GROUP BY o.id ORDER BY many DESC, o.name LIMIT ?",
            (*given, most),
        )
        return [(str(name), int(many)) for name, many in rows]

    def patterns(self, most: int = 10) -> list[Pattern]:
        rows = self._query(
            "SELECT steps, CASE WHEN told != 0 THEN told ELSE outcome END FROM turn "
            "WHERE steps != ''"
        )
        return find_patterns(((tuple(str(s).split()), int(o)) for s, o in rows), most)

    def latest(self, most: int = 20, intent: str = "") -> list[Flow]:
        order = "ORDER BY t.at DESC, t.id DESC LIMIT ?"
        return self._list_flows(f"WHERE ? IN ('', t.intent) {order}", intent, most)

    def measure(self) -> tuple[int, int, str, str]:
        [(count, size, first, last)] = self._query(
            f"SELECT count(*), coalesce(sum({database.SIZE}), 0), min(nullif(at, '')), max(at) "  # noqa: S608
            "FROM turn"
        )
        return int(count), int(size), str(first or ""), str(last or "")

    def paths(self, node: str, depth: int = DEPTH) -> list[GraphEdge]:
        seen, found = {node}, []
        waiting = deque([(node, 0)])
        while waiting and len(seen) < _NODES:
            here, far = waiting.popleft()
            if far >= depth:
                continue
            for edge in self._list_edges(here):
                found.append(edge)
                if edge.target not in seen:
                    seen.add(edge.target)
                    waiting.append((edge.target, far + 1))
        return found

    def _list_edges(self, node: str) -> list[GraphEdge]:
        kind, _, name = node.partition(":")
        if kind == "topic":
            query = (
                "SELECT m.id, 'discusses', d.weight FROM topic o JOIN discusses d "
                "ON d.topic = o.id JOIN turn t ON t.id = d.turn JOIN message m "
                "ON m.session = t.session AND m.number = t.first WHERE o.name = ? ORDER BY m.id"
            )
        elif kind == "message" and name.isdigit():
            query = (
                "SELECT b.id, 'follows', 1.0 FROM message a JOIN message b "
                "ON b.session = a.session AND b.number = a.number + 1 WHERE a.id = ?1 UNION ALL "
                "SELECT resolved, 'resolves', 1.0 FROM resolves WHERE message = ?1"
            )
        else:
            return []
        given = int(name) if kind == "message" else name
        rows = self._query(query, (given,))
        return [GraphEdge(node, f"message:{ident}", type, weight) for ident, type, weight in rows]

    def _weigh_shared_topics(self, text: str, among: Sequence[int]) -> dict[int, float]:
        names = intents.extract_topics([text])
        rows = self._query(
            "SELECT d.turn, sum(d.weight) FROM discusses d JOIN topic o ON o.id = d.topic "  # noqa: S608
            f"WHERE d.turn IN ({_make_marks(among)}) AND o.name IN ({_make_marks(names)}) "
            "GROUP BY d.turn",
            (*among, *names),
        )
        return {int(turn): float(much) for turn, much in rows}

    def _find_by_topics(self, text: str) -> dict[int, float]:
        """Return turns that share (not too common) topics with a text, with cosine 0."""
        names = intents.extract_topics([text])
        rows = self._query(
            "SELECT d.turn, sum(d.weight) AS much FROM topic o JOIN discusses d "  # noqa: S608
            f"ON d.topic = o.id WHERE o.name IN ({_make_marks(names)}) AND (SELECT count(*) FROM "
            "(SELECT 1 FROM discusses c WHERE c.topic = o.id LIMIT ?)) < ? "
            "GROUP BY d.turn ORDER BY much DESC, d.turn DESC LIMIT ?",
            (*names, _MANY, _MANY, _POOL),
        )
        return {int(turn): 0.0 for turn, _ in rows}

    def _find_by_meaning(self, text: str) -> dict[int, float]:
        dims = self._encoder.dims if self._encoder else 0
        path = f"{self._folder}/{database.VECTORS}"
        whole = files.get_size(path) // dims if dims else 0
        if self._encoder is None or not whole:
            return {}
        query = np.rint(self._encoder.encode([text]).vectors[0] * 127).astype(np.int8)
        if not query.any():
            return {}
        rows = np.frombuffer(vector_layout.map_file(path, whole * dims), np.int8)
        places, far = exact_search.find_nearest(rows.reshape(whole, dims), query, _POOL)
        pairs = zip(places.tolist(), far.tolist(), strict=True)
        return {place + 1: 1.0 - distance for place, distance in pairs if distance < 1}

    def _list_flows(self, where: str, *given: object) -> list[Flow]:
        return [
            replace(Flow(*row), steps=tuple(row[_STEPS].split()))
            for row in self._query(f"{_FLOWS}{where}", given)
        ]

    def _query(self, query: str, given: tuple[object, ...] = ()) -> list[tuple]:  # type: ignore[type-arg]
        try:
            with self._lock:
                return self._db.execute(query, given).fetchall()
        except (sqlite3.Error, UnicodeError) as error:
            raise database.convert_error(error, self._folder) from error


def _make_marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def find_patterns(turns: Iterable[tuple[tuple[str, ...], int]], most: int) -> list[Pattern]:
    """Return the sequences that several turns have, given as (steps, outcome)."""
    counts: Counter[tuple[str, ...]] = Counter()
    good: Counter[tuple[str, ...]] = Counter()
    bad: Counter[tuple[str, ...]] = Counter()
    for steps, outcome in turns:
        sequences = {
            steps[start : start + length]
            for length in range(_SHORTEST, _LONGEST + 1)
            for start in range(len(steps) - length + 1)
        }
        for each in sequences:
            counts[each] += 1
            good[each] += outcome == WORKED
            bad[each] += outcome == FAILED
    several = [(each, n) for each, n in counts.items() if n > 1]
    several.sort(key=lambda pair: (-(pair[1] * (len(pair[0]) - 1)), pair[0]))
    kept: list[Pattern] = []
    for found, number in several:
        parts = (
            other.steps[at : at + len(found)]
            for other in kept
            if other.turns >= number
            for at in range(len(other.steps))
        )
        if found not in parts:
            kept.append(Pattern(found, number, good[found], bad[found]))
        if len(kept) == most:
            break
    return kept


def find_steps(flows: Sequence[Flow], path: Sequence[str], most: int = 3) -> list[Step]:
    """Return the steps that followed a path in flows, the most frequent first. Ignores failures."""
    votes: Counter[str] = Counter()
    worked: Counter[str] = Counter()
    for flow in flows:
        name = _find_next_step(flow.steps, path)
        if name and flow.outcome != FAILED:
            votes[name] += 1
            worked[name] += flow.outcome == WORKED
    ordered = sorted(votes, key=lambda name: (-(votes[name] + worked[name]), name))
    total = sum(votes.values()) or 1
    return [Step(name, votes[name] / total, worked[name]) for name in ordered[:most]]


def _find_next_step(steps: tuple[str, ...], path: Sequence[str]) -> str:
    if not path:
        return steps[0] if steps else ""
    for length in range(min(_SUFFIX, len(path)), 0, -1):
        end = tuple(path[-length:])
        for at in range(len(steps) - length):
            if steps[at : at + length] == end:
                return steps[at + length]
    return ""
