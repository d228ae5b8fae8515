"""Incremental update of the graph from recall: only new messages are read."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from memfs import files
from memfs.core.errors import is_damage
from memfs.core.records import Message
from memfs.files import logs, signatures
from memfs.knowledge.session_graph import database, retention, topics, turns
from memfs.knowledge.session_graph.turns import FAILED, WORKED, OpenTurn
from memfs.search import catalog
from memfs.store import lock, recall, session_outcomes
from memfs.store.store_paths import Store

if TYPE_CHECKING:
    from memfs.search.encoder import Encoder

_TOGETHER = 4096  # turns whose vectors are made in one batch


@dataclass
class Built:
    """The result of an update: the numbers of new messages and of their sessions."""

    messages: int = 0
    sessions: int = 0


def update(
    store: Store,
    encoder: Encoder | None,
    tick: Callable[[int], object] = lambda _: None,
    *,
    wait: float = lock.WAIT,
    archived: Callable[[], Iterable[tuple[str, int]]] = tuple,
) -> Built:
    """Read new messages from recall. Raises `LockedError`, `StoreError`.

    Calls `tick` with numbers of messages. Without an encoder turns have no vectors, and are found
    by their topics. A damaged graph is rebuilt; a new one leaves out `archived`, the archived
    turns as (path, number).
    """
    with lock.hold_lock(store, wait, retention.LOCK):
        files.make_folder(store.index, private=True)
        try:
            return _update_database(store, encoder, tick, archived)
        except BaseException as error:
            if not is_damage(error):
                raise
            database.remove(store.index)
            return _update_database(store, encoder, tick, archived)


def _update_database(
    store: Store,
    encoder: Encoder | None,
    tick: Callable[[int], object],
    archived: Callable[[], Iterable[tuple[str, int]]],
) -> Built:
    with closing(database.open_database(store.index)) as db:
        try:
            if not db.execute("SELECT 1 FROM meta WHERE key = 'left'").fetchone():
                db.executemany("INSERT OR IGNORE INTO gone VALUES (?, ?)", archived())
                db.execute("INSERT INTO meta VALUES ('left', 'told')")
            return _Run(store, db, encoder, tick).run()
        except sqlite3.Error as error:
            raise database.convert_error(error, store.index) from error


class _Known(NamedTuple):
    """The state of a recall file in the graph: how far it was read, and the open turn there."""

    ident: int
    signature: str
    consumed: int
    mark: str
    turn: str
    messages: int


class _Read(NamedTuple):
    """The new messages of a session: first, last, number of the last, and the offset of its end."""

    first: Message | None
    last: Message | None
    number: int
    end: int
    turn: OpenTurn | None


def _make_writable(message: Message) -> Message:
    """Return a message that SQLite can store: lone surrogates are replaced."""
    *texts, side, sentiment = message
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        plain = (text.encode("utf-8", "replace").decode() for text in texts)
        return Message._make((*plain, side, sentiment))
    return message


@dataclass
class _Rows:
    """Rows to write for one session."""

    messages: list[tuple[object, ...]] = field(default_factory=list)
    turns: list[OpenTurn] = field(default_factory=list)


class _Run:
    def __init__(
        self,
        store: Store,
        db: sqlite3.Connection,
        encoder: Encoder | None,
        tick: Callable[[int], object],
    ) -> None:
        self._store, self._db, self._encoder, self._tick = store, db, encoder, tick
        self._topics: dict[str, int] = {}
        self._vectors = f"{store.index}/{database.VECTORS}"
        self._next = int(db.execute("SELECT coalesce(max(id), 0) FROM turn").fetchone()[0]) + 1
        self._next_session = 1
        self._waiting: list[tuple[int, str]] = []
        self._gone: list[int] = []
        self._done = Built()

    def run(self) -> Built:
        db = self._db
        model = self._encoder.name if self._encoder else ""
        row = db.execute("SELECT value FROM meta WHERE key = 'model'").fetchone()
        if row is not None and row[0] != model:
            self._clear()
        dims = self._encoder.dims if self._encoder else 0
        for pair in (("model", model), ("dims", str(dims))):
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", pair)
        known = {
            str(path): _Known(*row)
            for path, *row in db.execute(
                "SELECT path, id, signature, consumed, mark, turn, messages FROM session"
            )
        }
        self._next_session = max((each.ident for each in known.values()), default=0) + 1
        db.execute("BEGIN")
        seen = set()
        for path in recall.sources(self._store):
            name = os.path.relpath(path, self._store.local)
            seen.add(name)
            self._update_session(path, name, known.get(name))
        for name in known.keys() - seen:
            self._gone += database.delete_session(db, known[name].ident)
        self._write_vectors()
        if self._done.messages:
            self._gone += retention.mark_unread(db)
        self._apply_outcomes()
        if self._gone:
            retention.list_taken(db, self._store.index, self._gone)
        db.execute("COMMIT")
        return self._done

    def _clear(self) -> None:
        for table in ("session", "message", "turn", "topic", "discusses", "resolves"):
            self._db.execute(f"DELETE FROM {table}")  # noqa: S608 - our names
        self._topics, self._next = {}, 1

    def _update_session(self, path: str, name: str, known: _Known | None) -> None:
        sign = signatures.sign_file(path)
        if sign is None or (known and known.signature == str(sign)):
            return
        start, turn, before = 0, None, _Known(self._next_session, "", 0, "", "", 0)
        if known is not None:
            if known.consumed < sign.size and catalog.hash_ends(path, known.consumed) == known.mark:
                start, before = known.consumed, known
                turn = OpenTurn(**json.loads(known.turn)) if known.turn else None
            else:
                self._gone += database.delete_session(self._db, known.ident)
                known = None
        self._next_session += known is None
        db, ident = self._db, before.ident
        if known is None:
            db.execute("INSERT INTO session (id, path) VALUES (?, ?)", (ident, name))
        read = self._read(path, start, ident, before.messages, turn)
        state = json.dumps(read.turn.to_dict()) if read.turn else ""
        db.execute(
            "UPDATE session SET messages = ?, consumed = ?, signature = ?, mark = ?, turn = ?, "
            "ended = coalesce(?, ended) WHERE id = ?",
            (
                read.number,
                read.end,
                str(sign),
                catalog.hash_ends(path, read.end),
                state,
                read.last.at if read.last else None,
                ident,
            ),
        )
        if read.first is not None and not start:
            first = read.first
            db.execute(
                "UPDATE session SET host = ?, name = ?, project = ?, branch = ?, began = ? "
                "WHERE id = ?",
                (first.host, first.session, first.project, first.branch, first.at, ident),
            )
        self._done.sessions += 1

    def _read(
        self, path: str, start: int, session: int, number: int, turn: OpenTurn | None
    ) -> _Read:
        first = last = None
        rows = _Rows()
        open_one = turn  # it is in the database already: its row is updated
        end = start
        for found, here in recall.read_with_offsets(path, start):
            number, end = number + 1, here
            message = _make_writable(found)
            last = message
            first = first or message
            intent = turns.intent_of(message)
            rows.messages.append(
                (session, number, message.id, message.role, message.tool, intent, message.at)
            )
            if message.role == "user" and not message.side:
                if turn is not None:
                    turn.apply_reaction(intent, message)
                    rows.turns.append(turn)
                turn = turns.begin_turn(message, intent, number, turn)
            elif turn is not None:
                turn.add_message(message, intent, number)
        if turn is not None and (not rows.turns or rows.turns[-1] is not turn):
            rows.turns.append(turn)
        self._write(session, rows, open_one.number if open_one else 0)
        self._done.messages += len(rows.messages)
        self._tick(len(rows.messages))
        return _Read(first, last, number, end, turn)

    def _write(self, session: int, rows: _Rows, written: int) -> None:
        """Write the rows; the turn with the number `written` is in the database already."""
        db = self._db
        db.executemany(
            "INSERT INTO message (session, number, ident, role, tool, intent, at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            rows.messages,
        )
        for turn in rows.turns:
            ident = self._update_turn(session, turn) if turn.number == written else 0
            if not ident:
                ident = self._insert_turn(session, turn)
            self._write_topics(ident, turn)
            if turn.outcome == WORKED:
                self._write_resolves(ident, session, turn)
        if len(self._waiting) >= _TOGETHER:
            self._write_vectors()

    def _insert_turn(self, session: int, turn: OpenTurn) -> int:
        ident = self._next
        self._next += 1
        self._db.execute(
            "INSERT INTO turn (id, session, number, chain, first, last, intent, at, "
            "prompt, reply, steps, outcome, why, ident) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                ident,
                session,
                turn.number,
                turn.chain,
                turn.first,
                turn.last,
                turn.intent,
                turn.at,
                turn.prompt,
                turn.reply,
                " ".join(turn.steps),
                turn.outcome,
                turn.why,
                turn.ident,
            ),
        )
        self._waiting.append((ident, turn.prompt))
        return ident

    def _update_turn(self, session: int, turn: OpenTurn) -> int:
        """Update a turn that has new messages; return its id, 0 if it was removed meanwhile."""
        db = self._db
        row = db.execute(
            "SELECT id FROM turn WHERE session = ? AND number = ?", (session, turn.number)
        ).fetchone()
        if row is None:
            return 0
        ident = int(row[0])
        db.execute(
            "UPDATE turn SET last = ?, reply = ?, steps = ?, outcome = ?, why = ? WHERE id = ?",
            (turn.last, turn.reply, " ".join(turn.steps), turn.outcome, turn.why, ident),
        )
        db.execute("DELETE FROM discusses WHERE turn = ?", (ident,))
        db.execute("DELETE FROM resolves WHERE turn = ?", (ident,))
        return ident

    def _write_topics(self, ident: int, turn: OpenTurn) -> None:
        found = topics.extract_topics([turn.prompt, turn.reply])
        rows = []
        for place, name in enumerate(found):
            rows.append((self._get_topic_id(name), ident, round(1 / (1 + place), 3)))
        self._db.executemany("INSERT INTO discusses VALUES (?, ?, ?)", rows)

    def _get_topic_id(self, name: str) -> int:
        known = self._topics.get(name)
        if known is None:
            row = self._db.execute("SELECT id FROM topic WHERE name = ?", (name,)).fetchone()
            if row is None:
                made = self._db.execute("INSERT INTO topic (name) VALUES (?)", (name,))
                row = (made.lastrowid,)
            known = self._topics[name] = int(row[0])
        return known

    def _write_resolves(self, ident: int, session: int, turn: OpenTurn) -> None:
        """Add `resolves` edges from the last reply of a solved turn to all prompts of its chain."""
        if turn.last:
            self._db.execute(
                "INSERT INTO resolves SELECT a.id, b.id, ? FROM message a, message b, turn t "
                "WHERE a.session = ? AND a.number = ? AND t.session = ? AND t.chain = ? "
                "AND t.number <= ? AND b.session = ? AND b.number = t.first",
                (ident, session, turn.last, session, turn.chain, turn.number, session),
            )

    def _write_vectors(self) -> None:
        """Write the vectors of new turns, each at the offset of its id."""
        if not self._waiting or self._encoder is None:
            self._waiting = []
            return
        dims = self._encoder.dims
        with logs.open_patching(self._vectors) as handle:
            vectors = self._encoder.encode([text for _, text in self._waiting]).vectors
            rows = np.rint(vectors * 127).astype(np.int8)
            for (ident, _), row in zip(self._waiting, rows, strict=True):
                handle.seek((ident - 1) * dims)
                handle.write(row.tobytes())
        self._waiting = []

    def _apply_outcomes(self) -> None:
        """Let outcomes that people set override detected ones; remove turns they deleted."""
        db = self._db
        db.execute("UPDATE turn SET told = 0, told_why = '' WHERE told != 0")
        for each in session_outcomes.list_outcomes(self._store):
            if each.gone:
                self._gone += retention.list_session_turns(db, each.session, each.turn)
                continue
            value = WORKED if each.worked else FAILED
            db.execute(
                "UPDATE turn SET told = ?, told_why = ? WHERE session IN (SELECT id FROM session "
                "WHERE name = ?) AND (? = 0 OR number = ?)",
                (value, each.why, each.session, each.turn, each.turn),
            )
