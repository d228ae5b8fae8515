"""Incremental update of the graph from recall: only new messages are read."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from memfs import files
from memfs.core.errors import StoppedError, is_damage
from memfs.core.records import Message
from memfs.files import logs, signatures
from memfs.knowledge.session_graph import database, intents, turns
from memfs.knowledge.session_graph.turns import FAILED, WORKED, OpenTurn
from memfs.search import catalog
from memfs.store import lock, recall, session_outcomes
from memfs.store.chunk_log import ChunkLog
from memfs.store.store_paths import Store

if TYPE_CHECKING:
    from memfs.search.encoder import Encoder

_TOGETHER = 4096  # turns whose vectors are made in one batch
_STEP = 2000  # messages of a session that are read between two ticks
_COLUMNS = "number chain first last intent at prompt reply outcome why ident".split()
_get_columns = attrgetter(*_COLUMNS)
_WRITE_TURN = (
    f"INSERT OR REPLACE INTO turn (id, session, steps, {', '.join(_COLUMNS)}) "  # noqa: S608 - ours
    f"VALUES (?, ?, ?{', ?' * len(_COLUMNS)})"
)


def update(
    store: Store,
    encoder: Encoder | None,
    tick: Callable[[int], object] = lambda _: None,
    *,
    wait: float = lock.WAIT,
) -> int:
    """Read new messages from recall; return their number. Raises `LockedError`, `StoreError`.

    Calls `tick` with numbers of messages; if it raises `StoppedError`, what was read is saved, and
    the next update continues there. Without an encoder turns have no vectors, and are found by
    their topics. A damaged graph is rebuilt; a new one leaves out what was archived.
    """
    with lock.hold_lock(store, wait, lock.SESSION_GRAPH):
        files.make_folder(store.index, private=True)
        try:
            return _update_database(store, encoder, tick)
        except BaseException as error:
            if not is_damage(error):
                raise
            database.remove(store.index)
            return _update_database(store, encoder, tick)


def _update_database(store: Store, encoder: Encoder | None, tick: Callable[[int], object]) -> int:
    with closing(database.open_database(store.index)) as db:
        try:
            if not db.execute("SELECT 1 FROM meta WHERE key = 'left'").fetchone():
                metas = [window.meta for window in ChunkLog(store, database.ARCHIVE).read()]
                gone = [(str(m.get("path")), int(str(m.get("turn") or 0))) for m in metas]
                db.executemany("INSERT OR IGNORE INTO gone VALUES (?, ?)", gone)
                db.execute("INSERT INTO meta VALUES ('left', 'told')")
            return _Run(store, db, encoder, tick).run()
        except sqlite3.Error as error:
            raise database.convert_error(error, store.index) from error


class _Known(NamedTuple):
    ident: int
    signature: str
    consumed: int
    mark: str
    turn: str
    messages: int


def _make_writable(message: Message) -> Message:
    texts = [value for value in message if isinstance(value, str)]
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return Message._make(
            value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
            for value in message
        )
    return message


class _Run:
    def __init__(
        self,
        store: Store,
        db: sqlite3.Connection,
        encoder: Encoder | None,
        tick: Callable[[int], object],
    ) -> None:
        self._store, self._db, self._encoder, self._tick = store, db, encoder, tick
        self._next = self._next_session = 1  # ids of a turn and of a session
        self._waiting: list[tuple[int, str]] = []  # turns without vectors
        self._gone: list[int] = []
        self._messages = 0

    def run(self) -> int:
        db = self._db
        model = self._encoder.name if self._encoder else ""
        row = db.execute("SELECT value FROM meta WHERE key = 'model'").fetchone()
        if row is not None and row[0] != model:
            for table in ("session", "message", "turn", "topic", "discusses", "resolves"):
                db.execute(f"DELETE FROM {table}")  # noqa: S608 - our names
        dims = str(self._encoder.dims if self._encoder else 0)
        meta = (("model", model), ("dims", dims))
        db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta)
        query = "SELECT path, id, signature, consumed, mark, turn, messages FROM session"
        known = {str(path): _Known(*row) for path, *row in db.execute(query)}
        self._next_session = max((each.ident for each in known.values()), default=0) + 1
        [(last,)] = db.execute("SELECT coalesce(max(id), 0) FROM turn")
        self._next = int(last) + 1
        db.execute("BEGIN")
        stopped = self._update_sessions(known)
        self._write_vectors()
        if self._messages:
            # Archived turns that were read again with their file.
            self._gone += database.list_ids(
                db,
                "SELECT t.id FROM gone g JOIN session s ON s.path = g.path "
                "JOIN turn t ON t.session = s.id AND t.number = g.number",
            )
        self._apply_outcomes()
        if self._gone:
            database.delete_turns(db, self._store.index, self._gone)
        db.execute("COMMIT")
        if stopped is not None:
            raise stopped
        return self._messages

    def _update_sessions(self, known: dict[str, _Known]) -> StoppedError | None:
        seen = set()
        try:
            for path in recall.sources(self._store):
                name = os.path.relpath(path, self._store.local)
                seen.add(name)
                self._update_session(path, name, known.get(name))
        except StoppedError as stopped:
            return stopped
        for name in known.keys() - seen:
            self._gone += database.delete_session(self._db, known[name].ident)
        return None

    def _update_session(self, path: str, name: str, known: _Known | None) -> None:
        sign = signatures.sign_file(path)
        if sign is None or (known and known.signature == str(sign)):
            return
        if known and not (
            known.consumed < sign.size and catalog.hash_ends(path, known.consumed) == known.mark
        ):
            self._gone += database.delete_session(self._db, known.ident)
            known = None
        if known is None:
            known = _Known(self._next_session, "", 0, "", "", 0)
            self._next_session += 1
            self._db.execute("INSERT INTO session (id, path) VALUES (?, ?)", (known.ident, name))
        is_whole = False
        while not is_whole:
            before = known.messages
            known = self._read(path, known, str(sign))
            is_whole = bool(known.signature)
            if known.messages > before:
                self._tick(known.messages - before)

    def _read(self, path: str, known: _Known, sign: str) -> _Known:
        """Read and write new messages of a session; return how far (signature "": not all)."""
        turn = OpenTurn(**json.loads(known.turn)) if known.turn else None
        written = turn.number if turn else 0
        changed = [turn] if turn else []
        session, number, end = known.ident, known.messages, known.consumed
        rows: list[tuple[object, ...]] = []
        messages: list[Message] = []  # the first and the last one
        for found, here in recall.read_with_offsets(path, known.consumed):
            if len(rows) == _STEP:
                sign = ""
                break
            number, end = number + 1, here
            message = _make_writable(found)
            messages[1:] = [message]
            intent = message.intent or intents.classify_message(
                message.role, message.tool, message.text
            )
            rows.append(
                (session, number, message.id, message.role, message.tool, intent, message.at)
            )
            if message.role == "user" and not message.side:
                if turn is not None:
                    turn.apply_reaction(intent, message)
                turn = turns.begin_turn(message, intent, number, turn)
                changed.append(turn)
            elif turn is not None:
                turn.add_message(message, intent, number)
        self._db.executemany(
            "INSERT INTO message (session, number, ident, role, tool, intent, at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        for each in changed:
            self._write_turn(session, each, known=each.number == written)
        if len(self._waiting) >= _TOGETHER:
            self._write_vectors()
        self._messages += len(rows)
        mark, state = catalog.hash_ends(path, end), json.dumps(vars(turn)) if turn else ""
        self._db.execute(
            "UPDATE session SET messages = ?, consumed = ?, signature = ?, mark = ?, turn = ?, "
            "ended = coalesce(?, ended) WHERE id = ?",
            (number, end, sign, mark, state, messages[-1].at if messages else None, session),
        )
        if messages and not known.consumed:
            first = messages[0]
            self._db.execute(
                "UPDATE session SET host = ?, name = ?, project = ?, branch = ?, began = ? "
                "WHERE id = ?",
                (first.host, first.session, first.project, first.branch, first.at, session),
            )
        return _Known(session, sign, end, mark, state, number)

    def _write_turn(self, session: int, turn: OpenTurn, *, known: bool) -> None:
        db = self._db
        row = None
        if known:
            query = "SELECT id FROM turn WHERE session = ? AND number = ?"
            row = db.execute(query, (session, turn.number)).fetchone()
        ident = int(row[0]) if row else self._next
        if row:
            database.delete_edges(db, ident)
        else:
            self._next += 1
            self._waiting.append((ident, turn.prompt))
        db.execute(_WRITE_TURN, (ident, session, " ".join(turn.steps), *_get_columns(turn)))
        names = intents.extract_topics([turn.prompt, turn.reply])
        db.executemany("INSERT OR IGNORE INTO topic (name) VALUES (?)", [(name,) for name in names])
        db.executemany(
            "INSERT INTO discusses SELECT id, ?, ? FROM topic WHERE name = ?",
            [(ident, round(1 / (1 + place), 3), name) for place, name in enumerate(names)],
        )
        if turn.outcome == WORKED and turn.last:
            # From the last reply of a solved turn to all prompts of its chain.
            db.execute(
                "INSERT INTO resolves SELECT a.id, b.id, ? FROM message a, message b, turn t "
                "WHERE a.session = ? AND a.number = ? AND t.session = ? AND t.chain = ? "
                "AND t.number <= ? AND b.session = ? AND b.number = t.first",
                (ident, session, turn.last, session, turn.chain, turn.number, session),
            )

    def _write_vectors(self) -> None:
        if not self._waiting or self._encoder is None:
            self._waiting = []
            return
        dims = self._encoder.dims
        with logs.open_patching(f"{self._store.index}/{database.VECTORS}") as handle:
            vectors = self._encoder.encode([text for _, text in self._waiting]).vectors
            rows = np.rint(vectors * 127).astype(np.int8)
            for (ident, _), row in zip(self._waiting, rows, strict=True):
                handle.seek((ident - 1) * dims)
                handle.write(row.tobytes())
        self._waiting = []

    def _apply_outcomes(self) -> None:
        db = self._db
        db.execute("UPDATE turn SET told = 0, told_why = '' WHERE told != 0")
        which = "session IN (SELECT id FROM session WHERE name = ?) AND ? IN (0, number)"
        for each in session_outcomes.list_outcomes(self._store):
            turns_of = (each.session, each.turn)
            if each.gone:
                self._gone += database.list_ids(db, f"SELECT id FROM turn WHERE {which}", *turns_of)  # noqa: S608
                continue
            told = (WORKED if each.worked else FAILED, each.why)
            db.execute(f"UPDATE turn SET told = ?, told_why = ? WHERE {which}", (*told, *turns_of))  # noqa: S608
