"""The graph of past sessions, in SQLite: derived from recall, and made anew where it is damaged.

Nodes are messages, turns and topics. Edges are `follows` (one message after another), `discusses`
(a topic in a turn) and `resolves` (what worked, and what it resolved): all are in the view `edge`.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress

FILE = "flow-1.sqlite"  # the number changes with the schema: another one is another graph
VECTORS = "flow-1.i8"  # a row for each turn, by its id
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
    why TEXT, told INTEGER DEFAULT 0
);
CREATE TABLE IF NOT EXISTS topic (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE IF NOT EXISTS discusses (topic INTEGER, turn INTEGER, weight REAL);
CREATE TABLE IF NOT EXISTS resolves (message INTEGER, resolved INTEGER, turn INTEGER);
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT);
CREATE INDEX IF NOT EXISTS message_of ON message (session, number);
CREATE INDEX IF NOT EXISTS turn_of ON turn (session, number);
CREATE INDEX IF NOT EXISTS discussed ON discusses (topic);
CREATE INDEX IF NOT EXISTS discussing ON discusses (turn);
CREATE INDEX IF NOT EXISTS resolving ON resolves (turn);
CREATE VIEW IF NOT EXISTS edge AS
    SELECT 'message:' || a.id AS source, 'message:' || b.id AS target, 'follows' AS type,
        1.0 AS weight
    FROM message b JOIN message a ON a.session = b.session AND a.number = b.number - 1
    UNION ALL
    SELECT 'topic:' || o.name, 'message:' || m.id, 'discusses', d.weight
    FROM discusses d JOIN topic o ON o.id = d.topic JOIN turn t ON t.id = d.turn
    JOIN message m ON m.session = t.session AND m.number = t.first
    UNION ALL
    SELECT 'message:' || message, 'message:' || resolved, 'resolves', 1.0 FROM resolves;
"""


def opened(folder: str) -> sqlite3.Connection:
    """Open the graph in an index folder, or make it. One that is damaged is made anew, empty."""
    path = f"{folder}/{FILE}"
    try:
        return _connected(path)
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise
        for name in (path, f"{path}-journal", f"{path}-wal", f"{path}-shm", f"{folder}/{VECTORS}"):
            with suppress(FileNotFoundError):
                os.remove(name)
        return _connected(path)


def _connected(path: str) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, timeout=5.0, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=OFF")  # it is derived: a crash costs a rebuild at most
        db.execute("PRAGMA temp_store=MEMORY")
        db.executescript(_SCHEMA)
        db.execute("SELECT count(*) FROM session").fetchone()
    except BaseException:
        db.close()
        raise
    if os.name == "posix":
        os.chmod(path, 0o600)
    return db


def forget(db: sqlite3.Connection, session: int) -> None:
    """Take a session out."""
    turns = "(SELECT id FROM turn WHERE session = ?)"
    db.execute(f"DELETE FROM discusses WHERE turn IN {turns}", (session,))  # noqa: S608
    db.execute(f"DELETE FROM resolves WHERE turn IN {turns}", (session,))  # noqa: S608
    for table in ("turn", "message"):
        db.execute(f"DELETE FROM {table} WHERE session = ?", (session,))  # noqa: S608 - our names
    db.execute("DELETE FROM session WHERE id = ?", (session,))
