"""Questions to the graph: what was like this before, how it came out, and what came next."""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from typing import TYPE_CHECKING, Self

import numpy as np

from memfs import files
from memfs.files import signatures
from memfs.knowledge.session_graph import database, records, topics
from memfs.knowledge.session_graph import patterns as session_graph_patterns
from memfs.knowledge.session_graph.records import GraphEdge
from memfs.knowledge.session_graph.turns import WORKED
from memfs.search import exact_search, vector_layout

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from memfs.knowledge.session_graph.records import Flow, Pattern, Step
    from memfs.search.encoder import Encoder

DEPTH = 10  # edges of a path
_POOL = 50  # turns that are weighed
_TOPIC = 0.1  # what a topic in common adds to a cosine
MOST_TOPICS = 0.3
_MANY = 2000  # turns; a topic of so many says nothing
_NODES = 400  # that a walk visits
_TURN = (
    "t.id, s.name, s.host, s.project, t.number, t.at, t.intent, t.prompt, t.reply, t.steps, CASE "
    "WHEN t.told != 0 THEN t.told ELSE t.outcome END, CASE WHEN t.told = 0 THEN t.why WHEN "
    "t.told_why = '' THEN 'you said so' ELSE t.told_why END, t.chain, t.session"
)


class SessionGraph:
    """The graph in an index folder, opened for questions. Threads may share it."""

    def __init__(self, folder: str, encoder: Encoder | None) -> None:
        self._folder, self._encoder = folder, encoder
        self._lock = threading.Lock()
        self._db: sqlite3.Connection = database.open_database(folder)
        self._looks = signatures.sign_file(f"{folder}/{database.FILE}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if db := getattr(self, "_db", None):  # another took its place, and nobody asks it now
            db.close()

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def current(self) -> bool:
        """Tell whether this is the graph that is there: another may have taken its place."""
        looks = signatures.sign_file(f"{self._folder}/{database.FILE}")
        return looks is not None and self._looks is not None and looks[0] == self._looks[0]

    def counts(self) -> dict[str, int]:
        """Return how many sessions, messages, turns and topics there are."""
        tables = ("session", "message", "turn", "topic")
        return {name: int(self._one(f"SELECT count(*) FROM {name}")) for name in tables}  # noqa: S608

    def similar(
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
        """Return the turns whose prompts are most like a text, the most alike first.

        Those of the session `but` are left out. By meaning, and by topics in common; by topics
        alone where there are no vectors.
        """
        near = self._by_meaning(text)
        found = self.weighed(text, near or self._by_topics(text), threshold)
        fitting = [
            each for each in found if records.is_requested(each, but, outcome, intent, session)
        ]
        return fitting[:limit]

    def weighed(self, text: str, near: Mapping[int, float], threshold: float = 0.0) -> list[Flow]:
        """Return turns by how near they are to a text, and by topics in common, the best first.

        Those whose relevance is below a threshold are left out.
        """
        near = {turn: cosine for turn, cosine in near.items() if cosine + MOST_TOPICS >= threshold}
        shared = self._shared(text, list(near)) if near else {}
        scores = {
            turn: cosine + min(MOST_TOPICS, _TOPIC * shared.get(turn, 0.0))
            for turn, cosine in near.items()
        }
        best = [turn for turn in scores if scores[turn] >= threshold]
        there = self._turns(best) if best else {}
        found = [
            records.with_relevance(there[turn], scores[turn]) for turn in best if turn in there
        ]
        return sorted(found, key=lambda flow: (-flow.relevance, -flow.id))

    def fixed(self, flow: Flow) -> Flow | None:
        """Return the turn that brought what was wanted in `flow`: itself, or a later one."""
        if flow.outcome == WORKED and flow.reply:
            return flow
        rows = self._rows(
            f"SELECT {_TURN} FROM turn t JOIN session s ON s.id = t.session "  # noqa: S608
            "JOIN turn me ON me.id = ? WHERE t.session = me.session AND t.chain = me.chain "
            f"AND t.number > me.number AND {database.WORKED.format('t.')} "
            "ORDER BY t.number LIMIT 1",
            (flow.id,),
        )
        return records.of_row(rows[0]) if rows and flow.outcome != WORKED else None

    def sessions(self, beginning: str, most: int = 3) -> list[str]:
        """Return the names of sessions that begin so; the one that is called so, alone."""
        rows = self._rows(
            "SELECT DISTINCT name FROM session WHERE name = ? OR name GLOB ? "
            "ORDER BY name != ?, name LIMIT ?",
            (beginning, f"{_plain(beginning)}*", beginning, most),
        )
        names = [str(name) for (name,) in rows]
        return names[:1] if beginning in names else names

    def session(self, name: str) -> list[Flow]:
        """Return the turns of a session, by its whole name."""
        rows = self._rows(
            f"SELECT {_TURN} FROM turn t JOIN session s ON s.id = t.session "  # noqa: S608
            "WHERE s.name = ? ORDER BY s.began, t.session, t.number",
            (name,),
        )
        return [records.of_row(row) for row in rows]

    def topic(self, name: str) -> list[Flow]:
        """Return the turns that a topic was discussed in, in the order of time."""
        rows = self._rows(
            f"SELECT {_TURN} FROM turn t JOIN session s ON s.id = t.session "  # noqa: S608
            "JOIN discusses d ON d.turn = t.id JOIN topic o ON o.id = d.topic "
            "WHERE o.name = ? ORDER BY t.at, t.id",
            (name.lower(),),
        )
        return [records.of_row(row) for row in rows]

    def topics(self, turns: Sequence[int] | None = None, most: int = 20) -> list[tuple[str, int]]:
        """Return topics of some turns, or of all, and in how many turns each is discussed."""
        where, given = "", tuple[int, ...]()
        if turns is not None:
            where, given = f"WHERE d.turn IN ({_marks(turns)})", tuple(turns)
        rows = self._rows(
            "SELECT o.name, count(*) AS many FROM discusses d JOIN topic o ON o.id = d.topic "  # noqa: S608
            f"{where} GROUP BY o.id ORDER BY many DESC, o.name LIMIT ?",
            (*given, most),
        )
        return [(str(name), int(many)) for name, many in rows]

    def patterns(self, most: int = 10) -> list[Pattern]:
        """Return the sequences of steps that came in several turns, those that say most first."""
        rows = self._rows(
            "SELECT steps, CASE WHEN told != 0 THEN told ELSE outcome END FROM turn "
            "WHERE steps != ''"
        )
        return session_graph_patterns.patterns(
            ((tuple(str(s).split()), int(o)) for s, o in rows), most
        )

    def steps(self, like: Sequence[Flow], path: Sequence[str], most: int = 3) -> list[Step]:
        """Return what came next in flows that are alike, after the steps that were taken."""
        return session_graph_patterns.steps(like, path, most)

    def latest(self, most: int = 20) -> list[Flow]:
        """Return the latest turns, the latest first."""
        rows = self._rows(
            f"SELECT {_TURN} FROM turn t JOIN session s ON s.id = t.session "  # noqa: S608
            "ORDER BY t.at DESC, t.id DESC LIMIT ?",
            (most,),
        )
        return [records.of_row(row) for row in rows]

    def extent(self) -> tuple[int, int, str, str]:
        """Return how many turns there are, the bytes of what is kept of them, first and last."""
        count = self._one("SELECT count(*) FROM turn")
        size = self._one(
            "SELECT coalesce(sum(length(CAST(prompt AS BLOB)) + length(CAST(reply AS BLOB))), 0) "
            "FROM turn"
        )
        [(first, last)] = self._rows("SELECT min(nullif(at, '')), max(at) FROM turn")
        return count, size, str(first or ""), str(last or "")

    def paths(self, node: str, depth: int = DEPTH) -> list[GraphEdge]:
        """Return the edges that lead from a node on, at most `depth` of them behind each other."""
        seen, found = {node}, []
        waiting = deque([(node, 0)])
        while waiting and len(seen) < _NODES:
            here, far = waiting.popleft()
            if far >= depth:
                continue
            for edge in self._edges(here):
                found.append(edge)
                if edge.target not in seen:
                    seen.add(edge.target)
                    waiting.append((edge.target, far + 1))
        return found

    def node(self, flow: Flow) -> str:
        """Return the node of a turn's prompt."""
        ident = self._one(
            "SELECT m.id FROM turn t JOIN message m ON m.session = t.session "
            "AND m.number = t.first WHERE t.id = ?",
            (flow.id,),
        )
        return f"message:{ident}"

    def _edges(self, node: str) -> list[GraphEdge]:
        kind, _, name = node.partition(":")
        if kind == "topic":
            rows = self._rows(
                "SELECT m.id, d.weight FROM topic o JOIN discusses d ON d.topic = o.id "
                "JOIN turn t ON t.id = d.turn JOIN message m ON m.session = t.session "
                "AND m.number = t.first WHERE o.name = ? ORDER BY m.id",
                (name,),
            )
            return [GraphEdge(node, f"message:{i}", "discusses", float(w)) for i, w in rows]
        if kind != "message" or not name.isdigit():
            return []
        after = self._rows(
            "SELECT b.id FROM message a JOIN message b ON b.session = a.session "
            "AND b.number = a.number + 1 WHERE a.id = ?",
            (int(name),),
        )
        solved = self._rows("SELECT resolved FROM resolves WHERE message = ?", (int(name),))
        return [GraphEdge(node, f"message:{i}", "follows", 1.0) for (i,) in after] + [
            GraphEdge(node, f"message:{i}", "resolves", 1.0) for (i,) in solved
        ]

    def _shared(self, text: str, among: Sequence[int]) -> dict[int, float]:
        """Return how much some turns discuss what a text is about."""
        names = topics.extract_topics([text])
        rows = self._rows(
            "SELECT d.turn, sum(d.weight) FROM discusses d JOIN topic o ON o.id = d.topic "  # noqa: S608
            f"WHERE d.turn IN ({_marks(among)}) AND o.name IN ({_marks(names)}) "
            "GROUP BY d.turn",
            (*among, *names),
        )
        return {int(turn): float(much) for turn, much in rows}

    def _by_topics(self, text: str) -> dict[int, float]:
        """Return the turns that discuss what a text is about, as far as nothing else is known.

        Topics of very many turns say nothing.
        """
        names = topics.extract_topics([text])
        rows = self._rows(
            "SELECT d.turn, sum(d.weight) AS much FROM topic o JOIN discusses d "  # noqa: S608
            f"ON d.topic = o.id WHERE o.name IN ({_marks(names)}) AND (SELECT count(*) FROM "
            "(SELECT 1 FROM discusses c WHERE c.topic = o.id LIMIT ?)) < ? "
            "GROUP BY d.turn ORDER BY much DESC, d.turn DESC LIMIT ?",
            (*names, _MANY, _MANY, _POOL),
        )
        return {int(turn): 0.0 for turn, _ in rows}

    def _by_meaning(self, text: str) -> dict[int, float]:
        """Return turns by the cosine of their prompts to a text."""
        rows = self._vectors()
        if rows is None or self._encoder is None:
            return {}
        query = np.rint(self._encoder.encode([text]).vectors[0] * 127).astype(np.int8)
        if not query.any():
            return {}
        places, far = exact_search.find_nearest(rows, query, _POOL)
        pairs = zip(places.tolist(), far.tolist(), strict=True)
        return {place + 1: 1.0 - distance for place, distance in pairs if distance < 1}

    def _vectors(self) -> NDArray[np.int8] | None:
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

    def _turns(self, ids: Sequence[int]) -> dict[int, Flow]:
        rows = self._rows(
            f"SELECT {_TURN} FROM turn t JOIN session s ON s.id = t.session "  # noqa: S608
            f"WHERE t.id IN ({_marks(ids)})",
            tuple(ids),
        )
        return {int(row[0]): records.of_row(row) for row in rows}

    def _rows(self, query: str, given: tuple[object, ...] = ()) -> list[tuple]:  # type: ignore[type-arg]
        try:
            with self._lock:
                return self._db.execute(query, given).fetchall()
        except (sqlite3.Error, UnicodeError) as error:
            raise database.convert_error(error) from error

    def _one(self, query: str, given: tuple[object, ...] = ()) -> int:
        rows = self._rows(query, given)
        return int(rows[0][0]) if rows else 0


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def _plain(name: str) -> str:
    """Return the beginning of a name as a pattern that means nothing else."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)
