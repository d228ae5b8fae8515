"""Queries of the graph: similar turns, outcomes, recurring patterns, the steps that followed."""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from memfs import files
from memfs.files import signatures
from memfs.knowledge.session_graph import database, records, topics
from memfs.knowledge.session_graph.records import Flow, GraphEdge, Pattern, Step
from memfs.knowledge.session_graph.turns import WORKED
from memfs.search import exact_search, vector_layout

if TYPE_CHECKING:
    from memfs.search.encoder import Encoder
from collections import Counter
from collections.abc import Iterable

from memfs.knowledge.session_graph.turns import FAILED

_LONGEST, _SHORTEST = 5, 2  # steps of a pattern
_SUFFIX = 4  # last steps of a path that predict the next one

DEPTH = 10  # edges of a path
_POOL = 50  # candidate turns of a search
_TOPIC = 0.1  # score that a shared topic adds to a cosine
MOST_TOPICS = 0.3
_MANY = 2000  # turns; a topic of more is ignored
_NODES = 400  # nodes that a walk visits
_TURN = (
    "t.id, s.name, s.host, s.project, t.number, t.at, t.intent, t.prompt, t.reply, t.steps, CASE "
    "WHEN t.told != 0 THEN t.told ELSE t.outcome END, CASE WHEN t.told = 0 THEN t.why WHEN "
    "t.told_why = '' THEN 'you said so' ELSE t.told_why END, t.chain, t.session"
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
        """Close the database."""
        self._db.close()

    def is_current(self) -> bool:
        """Return whether the file on disk is still the open one: a rebuild replaces it."""
        now, then = signatures.sign_file(f"{self._folder}/{database.FILE}"), self._signature
        return now is not None and then is not None and now[0] == then[0]

    def count_rows(self) -> dict[str, int]:
        """Return the numbers of sessions, messages, turns and topics."""
        tables = ("session", "message", "turn", "topic")
        return {name: int(self._query_number(f"SELECT count(*) FROM {name}")) for name in tables}  # noqa: S608

    def find_similar(
        self,
        text: str,
        limit: int = 5,
        *,
        but: str = "",
        outcome: int | None = None,
        intent: str = "",
        session: str = "",
        threshold: float = 0.0,
    ) -> list[Flow]:
        """Return the turns whose prompts are most similar to a text, the most similar first.

        Leaves out the session `but`. Compares vectors and topics; topics alone without vectors.
        """
        near = self._find_by_meaning(text)
        found = self.rank(text, near or self._find_by_topics(text), threshold)
        fitting = [
            each for each in found if records.is_requested(each, but, outcome, intent, session)
        ]
        return fitting[:limit]

    def rank(self, text: str, near: Mapping[int, float], threshold: float = 0.0) -> list[Flow]:
        """Return turns ranked by their cosine to a text and by shared topics, the best first.

        `near` has cosines by turn. Turns with a relevance below the threshold are left out.
        """
        near = {turn: cosine for turn, cosine in near.items() if cosine + MOST_TOPICS >= threshold}
        shared = self._weigh_shared_topics(text, list(near)) if near else {}
        scores = {
            turn: cosine + min(MOST_TOPICS, _TOPIC * shared.get(turn, 0.0))
            for turn, cosine in near.items()
        }
        best = [turn for turn in scores if scores[turn] >= threshold]
        there = self._load_turns(best) if best else {}
        found = [
            records.with_relevance(there[turn], scores[turn]) for turn in best if turn in there
        ]
        return sorted(found, key=lambda flow: (-flow.relevance, -flow.id))

    def find_solution(self, flow: Flow) -> Flow | None:
        """Return the turn that solved the request of `flow`: itself, a later one, or None."""
        if flow.outcome == WORKED and flow.reply:
            return flow
        rows = self._query(
            f"SELECT {_TURN} FROM turn t JOIN session s ON s.id = t.session "  # noqa: S608
            "JOIN turn me ON me.id = ? WHERE t.session = me.session AND t.chain = me.chain "
            f"AND t.number > me.number AND {database.WORKED.format('t.')} "
            "ORDER BY t.number LIMIT 1",
            (flow.id,),
        )
        return records.of_row(rows[0]) if rows and flow.outcome != WORKED else None

    def sessions(self, beginning: str, most: int = 3) -> list[str]:
        """Return the names of sessions with this prefix; an exact match alone."""
        rows = self._query(
            "SELECT DISTINCT name FROM session WHERE name = ? OR name GLOB ? "
            "ORDER BY name != ?, name LIMIT ?",
            (beginning, f"{_escape_glob(beginning)}*", beginning, most),
        )
        names = [str(name) for (name,) in rows]
        return names[:1] if beginning in names else names

    def session(self, name: str) -> list[Flow]:
        """Return the turns of a session, by its full name."""
        rows = self._query(
            f"SELECT {_TURN} FROM turn t JOIN session s ON s.id = t.session "  # noqa: S608
            "WHERE s.name = ? ORDER BY s.began, t.session, t.number",
            (name,),
        )
        return [records.of_row(row) for row in rows]

    def list_topic_turns(self, name: str) -> list[Flow]:
        """Return the turns that discuss a topic, the oldest first."""
        rows = self._query(
            f"SELECT {_TURN} FROM turn t JOIN session s ON s.id = t.session "  # noqa: S608
            "JOIN discusses d ON d.turn = t.id JOIN topic o ON o.id = d.topic "
            "WHERE o.name = ? ORDER BY t.at, t.id",
            (name.lower(),),
        )
        return [records.of_row(row) for row in rows]

    def topics(self, turns: Sequence[int] | None = None, most: int = 20) -> list[tuple[str, int]]:
        """Return the topics of some turns, or of all, with the number of turns of each."""
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
        """Return the sequences of steps that occur in several turns (see `patterns`)."""
        rows = self._query(
            "SELECT steps, CASE WHEN told != 0 THEN told ELSE outcome END FROM turn "
            "WHERE steps != ''"
        )
        return find_patterns(((tuple(str(s).split()), int(o)) for s, o in rows), most)

    def steps(self, like: Sequence[Flow], path: Sequence[str], most: int = 3) -> list[Step]:
        """Return the steps that followed a path in similar flows, the most frequent first."""
        return find_steps(like, path, most)

    def latest(self, most: int = 20, intent: str = "") -> list[Flow]:
        """Return the latest turns, those with an intent if it is given; the latest first."""
        rows = self._query(
            f"SELECT {_TURN} FROM turn t JOIN session s ON s.id = t.session "  # noqa: S608
            "WHERE ? IN ('', t.intent) ORDER BY t.at DESC, t.id DESC LIMIT ?",
            (intent, most),
        )
        return [records.of_row(row) for row in rows]

    def measure(self) -> tuple[int, int, str, str]:
        """Return the number of turns, the bytes of their texts, the first and the last time."""
        count = self._query_number("SELECT count(*) FROM turn")
        size = self._query_number(
            "SELECT coalesce(sum(length(CAST(prompt AS BLOB)) + length(CAST(reply AS BLOB))), 0) "
            "FROM turn"
        )
        [(first, last)] = self._query("SELECT min(nullif(at, '')), max(at) FROM turn")
        return count, size, str(first or ""), str(last or "")

    def paths(self, node: str, depth: int = DEPTH) -> list[GraphEdge]:
        """Return the edges on paths of at most `depth` edges from a node."""
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
            rows = self._query(
                "SELECT m.id, d.weight FROM topic o JOIN discusses d ON d.topic = o.id "
                "JOIN turn t ON t.id = d.turn JOIN message m ON m.session = t.session "
                "AND m.number = t.first WHERE o.name = ? ORDER BY m.id",
                (name,),
            )
            return [GraphEdge(node, f"message:{i}", "discusses", float(w)) for i, w in rows]
        if kind != "message" or not name.isdigit():
            return []
        after = self._query(
            "SELECT b.id FROM message a JOIN message b ON b.session = a.session "
            "AND b.number = a.number + 1 WHERE a.id = ?",
            (int(name),),
        )
        solved = self._query("SELECT resolved FROM resolves WHERE message = ?", (int(name),))
        return [GraphEdge(node, f"message:{i}", "follows", 1.0) for (i,) in after] + [
            GraphEdge(node, f"message:{i}", "resolves", 1.0) for (i,) in solved
        ]

    def _weigh_shared_topics(self, text: str, among: Sequence[int]) -> dict[int, float]:
        """Return the sum of weights of the topics that each turn shares with a text."""
        names = topics.extract_topics([text])
        rows = self._query(
            "SELECT d.turn, sum(d.weight) FROM discusses d JOIN topic o ON o.id = d.topic "  # noqa: S608
            f"WHERE d.turn IN ({_make_marks(among)}) AND o.name IN ({_make_marks(names)}) "
            "GROUP BY d.turn",
            (*among, *names),
        )
        return {int(turn): float(much) for turn, much in rows}

    def _find_by_topics(self, text: str) -> dict[int, float]:
        """Return the turns that share topics with a text, each with a cosine of 0.

        Ignores topics of very many turns.
        """
        names = topics.extract_topics([text])
        rows = self._query(
            "SELECT d.turn, sum(d.weight) AS much FROM topic o JOIN discusses d "  # noqa: S608
            f"ON d.topic = o.id WHERE o.name IN ({_make_marks(names)}) AND (SELECT count(*) FROM "
            "(SELECT 1 FROM discusses c WHERE c.topic = o.id LIMIT ?)) < ? "
            "GROUP BY d.turn ORDER BY much DESC, d.turn DESC LIMIT ?",
            (*names, _MANY, _MANY, _POOL),
        )
        return {int(turn): 0.0 for turn, _ in rows}

    def _find_by_meaning(self, text: str) -> dict[int, float]:
        """Return the turns nearest to a text, with the cosines of their prompts."""
        rows = self._map_vectors()
        if rows is None or self._encoder is None:
            return {}
        query = np.rint(self._encoder.encode([text]).vectors[0] * 127).astype(np.int8)
        if not query.any():
            return {}
        places, far = exact_search.find_nearest(rows, query, _POOL)
        pairs = zip(places.tolist(), far.tolist(), strict=True)
        return {place + 1: 1.0 - distance for place, distance in pairs if distance < 1}

    def _map_vectors(self) -> NDArray[np.int8] | None:
        path = f"{self._folder}/{database.VECTORS}"
        size = files.get_size(path)
        if self._encoder is None or not size:
            return None
        dims = self._encoder.dims
        whole = size // dims
        if not whole:
            return None
        return np.frombuffer(vector_layout.map_file(path, whole * dims), np.int8).reshape(
            whole, dims
        )

    def _load_turns(self, ids: Sequence[int]) -> dict[int, Flow]:
        rows = self._query(
            f"SELECT {_TURN} FROM turn t JOIN session s ON s.id = t.session "  # noqa: S608
            f"WHERE t.id IN ({_make_marks(ids)})",
            tuple(ids),
        )
        return {int(row[0]): records.of_row(row) for row in rows}

    def _query(self, query: str, given: tuple[object, ...] = ()) -> list[tuple]:  # type: ignore[type-arg]
        try:
            with self._lock:
                return self._db.execute(query, given).fetchall()
        except (sqlite3.Error, UnicodeError) as error:
            raise database.convert_error(error, self._folder) from error

    def _query_number(self, query: str, given: tuple[object, ...] = ()) -> int:
        rows = self._query(query, given)
        return int(rows[0][0]) if rows else 0


def _make_marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def _escape_glob(name: str) -> str:
    """Escape a name for `GLOB`."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def find_patterns(turns: Iterable[tuple[tuple[str, ...], int]], most: int) -> list[Pattern]:
    """Return the sequences that occur in several turns, given as (steps, outcome).

    Long and frequent ones come first. A part of a longer one that is as frequent is left out.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    good: Counter[tuple[str, ...]] = Counter()
    bad: Counter[tuple[str, ...]] = Counter()
    for steps, outcome in turns:
        for each in _list_sequences(steps):
            counts[each] += 1
            good[each] += outcome == WORKED
            bad[each] += outcome == FAILED
    several = [(each, n) for each, n in counts.items() if n > 1]
    several.sort(key=lambda pair: (-(pair[1] * (len(pair[0]) - 1)), pair[0]))
    kept: list[Pattern] = []
    for found, number in several:
        if not any(_contains(found, other.steps) and other.turns >= number for other in kept):
            kept.append(Pattern(found, number, good[found], bad[found]))
        if len(kept) == most:
            break
    return kept


def find_steps(flows: Sequence[Flow], path: Sequence[str], most: int) -> list[Step]:
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


def _list_sequences(steps: tuple[str, ...]) -> set[tuple[str, ...]]:
    """Return the distinct sequences in the steps of one turn."""
    return {
        steps[start : start + length]
        for length in range(_SHORTEST, _LONGEST + 1)
        for start in range(len(steps) - length + 1)
    }


def _contains(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    return any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))


def _find_next_step(steps: tuple[str, ...], path: Sequence[str]) -> str:
    """Return the step after the longest suffix of a path that occurs, the first for no path."""
    if not path:
        return steps[0] if steps else ""
    for length in range(min(_SUFFIX, len(path)), 0, -1):
        end = tuple(path[-length:])
        for at in range(len(steps) - length):
            if steps[at : at + length] == end:
                return steps[at + length]
    return ""
