"""The SQLite database of the graph of past sessions, derived from recall, rebuilt if damaged."""

import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing

from memfs import files
from memfs.core.errors import DamagedError, StoreError, find_refusal
from memfs.core.privacy import storable
from memfs.core.records import Passage
from memfs.files import logs, trees
from memfs.search.doc_json import epoch
from memfs.store import clock, lock
from memfs.store.chunk_log import ChunkLog
from memfs.store.store_paths import Store

FILE = "flow-1.sqlite"  # the number changes with the schema
VECTORS = "flow-1.i8"  # one row for each turn, by its id
ARCHIVE = "graph"  # the chunk log of archived turns: a project has one graph
SIZE = "length(CAST(prompt AS BLOB)) + length(CAST(reply AS BLOB))"  # bytes of a turn
# `SQLITE_ERROR`: a table or column is missing, as in another version.
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
WORKED = "({0}told = 1 OR ({0}told = 0 AND {0}outcome = 1))"  # as the index `turn_worked` has it
_SCHEMA = """
CREATE TABLE IF NOT EXISTS session (
    id INTEGER PRIMARY KEY, path TEXT UNIQUE, host TEXT, name TEXT, project TEXT, branch TEXT,
    began TEXT, ended TEXT, messages INTEGER, consumed INTEGER, signature TEXT, mark TEXT,
    turn TEXT
);
CREATE TABLE IF NOT EXISTS message (
    id INTEGER PRIMARY KEY, session INTEGER, number INTEGER, ident TEXT, role TEXT, tool TEXT,
    intent TEXT, at TEXT
);
CREATE TABLE IF NOT EXISTS turn (
    id INTEGER PRIMARY KEY, session INTEGER, number INTEGER, chain INTEGER, first INTEGER,
    last INTEGER, intent TEXT, at TEXT, prompt TEXT, reply TEXT, steps TEXT, outcome INTEGER,
    why TEXT, ident TEXT, told INTEGER DEFAULT 0, told_why TEXT DEFAULT ''
);
CREATE TABLE IF NOT EXISTS topic (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE IF NOT EXISTS discusses (topic INTEGER, turn INTEGER, weight REAL);
CREATE TABLE IF NOT EXISTS resolves (message INTEGER, resolved INTEGER, turn INTEGER);
CREATE TABLE IF NOT EXISTS gone (path TEXT, number INTEGER, PRIMARY KEY (path, number));
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT);
CREATE INDEX IF NOT EXISTS message_of ON message (session, number);
CREATE INDEX IF NOT EXISTS session_named ON session (name);
CREATE INDEX IF NOT EXISTS turn_of ON turn (session, number);
CREATE INDEX IF NOT EXISTS turn_begun ON turn (ident, session);
CREATE INDEX IF NOT EXISTS turn_at ON turn (at, id);
CREATE INDEX IF NOT EXISTS turn_worked ON turn (session, chain, number) WHERE {worked};
CREATE INDEX IF NOT EXISTS discussed ON discusses (topic);
CREATE INDEX IF NOT EXISTS discussing ON discusses (turn);
CREATE INDEX IF NOT EXISTS resolving ON resolves (turn);
"""


def open_database(folder: str) -> sqlite3.Connection:
    """Open or make the graph. Raises `StoreError`, `OSError`, `DamagedError`."""
    try:
        trees.clear_others(folder)
        return _connect(f"{folder}/{FILE}")
    except (sqlite3.Error, UnicodeError) as error:
        raise convert_error(error, folder) from error


def _connect(path: str) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, timeout=5.0, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=OFF")  # derived data: a crash costs a rebuild at most
        db.execute("PRAGMA temp_store=MEMORY")
        db.executescript(_SCHEMA.format(worked=WORKED.format("")))
        db.execute("SELECT count(*) FROM session").fetchone()
    except BaseException:
        db.close()
        raise
    if os.name == "posix":
        os.chmod(path, 0o600)
    return db


def convert_error(error: sqlite3.Error | UnicodeError, folder: str) -> StoreError | OSError:
    """Return the error to raise: `DamagedError`, `OSError` where the system refuses."""
    if refusal := find_refusal(error, f"{folder}/{FILE}"):
        return refusal
    damaged = isinstance(error, UnicodeError) or "decode" in str(error)  # invalid text
    if damaged or getattr(error, "sqlite_errorcode", 0) in _DAMAGED:  # may have no code
        return DamagedError(
            "the graph of past sessions is damaged", "rebuild the graph: memfs graph"
        )
    return StoreError(f"the graph of past sessions cannot be used: {error}", "try again")


def remove(folder: str) -> None:
    """Remove a damaged graph. The caller holds its write lock."""
    for name in (FILE, f"{FILE}-journal", f"{FILE}-wal", f"{FILE}-shm", VECTORS):
        files.remove(f"{folder}/{name}")


def delete_session(db: sqlite3.Connection, session: int) -> list[int]:
    """Delete a session with its turns and messages; return the ids of the turns."""
    turns = list_ids(db, "SELECT id FROM turn WHERE session = ?", session)
    for turn in turns:
        delete_edges(db, turn)
    for table in ("turn", "message"):
        db.execute(f"DELETE FROM {table} WHERE session = ?", (session,))  # noqa: S608 - our names
    db.execute("DELETE FROM session WHERE id = ?", (session,))
    return turns


def delete_edges(db: sqlite3.Connection, turn: int) -> None:
    """Delete the edges of a turn."""
    for table in ("discusses", "resolves"):
        db.execute(f"DELETE FROM {table} WHERE turn = ?", (turn,))  # noqa: S608 - our names


def delete_turns(db: sqlite3.Connection, folder: str, turns: Sequence[int]) -> None:
    """Delete turns with their messages, edges and vectors, and topics that are unused then."""
    for turn in turns:
        db.execute(
            "DELETE FROM message WHERE id IN (SELECT m.id FROM turn t JOIN message m ON m.session "
            "= t.session AND m.number >= t.first AND m.number < coalesce((SELECT min(n.first) FROM "
            "turn n WHERE n.session = t.session AND n.number > t.number), 1 << 60) WHERE t.id = ?)",
            (turn,),
        )
        delete_edges(db, turn)
        db.execute("DELETE FROM turn WHERE id = ?", (turn,))
    row = db.execute("SELECT value FROM meta WHERE key = 'dims'").fetchone()
    _blank_vectors(f"{folder}/{VECTORS}", turns, int(row[0]) if row else 0)
    db.execute("DELETE FROM topic WHERE id NOT IN (SELECT topic FROM discusses)")


def _blank_vectors(path: str, turns: Iterable[int], dims: int) -> None:
    size = files.get_size(path)
    if not dims or not size:
        return
    with logs.open_patching(path) as handle:
        for turn in turns:
            if turn * dims <= size:
                handle.seek((turn - 1) * dims)
                handle.write(bytes(dims))


def archive_oldest(
    store: Store, choose: Callable[[Iterable[tuple[int, float]], int, int], int]
) -> int:
    """Archive as many of the oldest turns as `choose` says, then remove them."""
    with lock.hold_lock(store, name=lock.SESSION_GRAPH), closing(open_database(store.index)) as db:
        [(count, size)] = db.execute(f"SELECT count(*), coalesce(sum({SIZE}), 0) FROM turn")  # noqa: S608
        turns = db.execute(f"SELECT {SIZE}, at FROM turn ORDER BY at, id")  # noqa: S608 - our names
        most = choose(((each, float(epoch(at) or 0)) for each, at in turns), count, size)
        gone = db.execute(
            "SELECT t.id, s.path, s.name, t.number, t.at, t.prompt, t.reply, t.steps, t.why FROM "
            "turn t JOIN session s ON s.id = t.session ORDER BY t.at, t.id LIMIT ?",
            (most,),
        ).fetchall()
        if gone:
            passages, metas = [], []
            for _, path, name, number, at, prompt, reply, steps, why in gone:
                text = storable(f"{prompt}\n{reply}")
                passages.append(Passage("", text, at or clock.now(), 5, ("flow",), name))
                metas.append({"path": path, "turn": number, "steps": steps, "why": why})
            with lock.hold_lock(store, name=lock.KINDS):
                ChunkLog(store, ARCHIVE).add(passages, metas)
            db.execute("BEGIN")
            keys = [(path, number) for _, path, _, number, *_ in gone]
            db.executemany("INSERT OR IGNORE INTO gone VALUES (?, ?)", keys)
            delete_turns(db, store.index, [ident for ident, *_ in gone])
            db.execute("COMMIT")
    return len(gone)


def list_ids(db: sqlite3.Connection, query: str, *given: object) -> list[int]:
    """Return the ids that a query finds."""
    return [int(ident) for (ident,) in db.execute(query, given)]
