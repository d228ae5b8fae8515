"""Removal of turns from the graph: those that a person deleted, and the oldest over its bounds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import NamedTuple

from memfs.knowledge.session_graph import database
from memfs.store import lock
from memfs.store.store_paths import Store

LOCK = "flow.lock"
_SIZE = "length(CAST(prompt AS BLOB)) + length(CAST(reply AS BLOB))"  # bytes


class LeavingTurn(NamedTuple):
    """A turn to archive; `path` is that of its session's recall file."""

    id: int
    path: str
    session: str
    number: int
    at: str
    prompt: str
    reply: str
    steps: str
    why: str
    size: int


def oldest(
    store: Store,
    keep: int,
    most_bytes: int,
    before: str,
    archive: Callable[[Sequence[LeavingTurn]], object],
) -> int:
    """Archive and remove the oldest turns; return their number.

    Leaves at most `keep` turns and `most_bytes` of text (0: any), none from before a time. Calls
    `archive` with the turns before they are removed.
    """
    with lock.hold_lock(store, name=LOCK), closing(database.open_database(store.index)) as db:
        gone = list(_list_old(db, keep, most_bytes, before))
        if gone:
            archive(gone)
            db.execute("BEGIN")
            db.executemany(
                "INSERT OR IGNORE INTO gone VALUES (?, ?)", [(row.path, row.number) for row in gone]
            )
            list_taken(db, store.index, [row.id for row in gone])
            db.execute("COMMIT")
    return len(gone)


def _list_old(db: sqlite3.Connection, keep: int, most_bytes: int, before: str) -> list[LeavingTurn]:
    turns = int(db.execute("SELECT count(*) FROM turn").fetchone()[0])
    size = 0
    if most_bytes:
        size = int(db.execute(f"SELECT coalesce(sum({_SIZE}), 0) FROM turn").fetchone()[0])  # noqa: S608
    found: list[LeavingTurn] = []
    rows = db.execute(
        "SELECT t.id, s.path, s.name, t.number, t.at, t.prompt, t.reply, t.steps, t.why, "  # noqa: S608
        f"{_SIZE} FROM turn t JOIN session s ON s.id = t.session ORDER BY t.at, t.id"
    )
    for each in rows:
        row = LeavingTurn(*each)
        many = bool(keep) and turns - len(found) > keep
        if not (many or (most_bytes and size > most_bytes) or row.at < before):
            break
        size -= row.size
        found.append(row)
    return found


def list_taken(db: sqlite3.Connection, folder: str, turns: Sequence[int]) -> None:
    """Delete turns with their messages, edges and vectors, and topics that are unused then."""
    for turn in turns:
        _delete_turn(db, turn)
    row = db.execute("SELECT value FROM meta WHERE key = 'dims'").fetchone()
    database.blank(folder, turns, int(row[0]) if row else 0)
    db.execute("DELETE FROM topic WHERE id NOT IN (SELECT topic FROM discusses)")


def mark_unread(db: sqlite3.Connection) -> list[int]:
    """Return the ids of archived turns that were read again with their file."""
    rows = db.execute(
        "SELECT t.id FROM gone g JOIN session s ON s.path = g.path "
        "JOIN turn t ON t.session = s.id AND t.number = g.number"
    )
    return [int(ident) for (ident,) in rows]


def list_session_turns(db: sqlite3.Connection, session: str, number: int) -> list[int]:
    """Return the ids of a turn of a session, of all its turns for number 0."""
    rows = db.execute(
        "SELECT t.id FROM turn t JOIN session s ON s.id = t.session WHERE s.name = ? "
        "AND (? = 0 OR t.number = ?)",
        (session, number, number),
    )
    return [int(ident) for (ident,) in rows]


def _delete_turn(db: sqlite3.Connection, turn: int) -> None:
    """Delete a turn with its messages and edges."""
    db.execute(
        "DELETE FROM message WHERE id IN (SELECT m.id FROM turn t JOIN message m ON m.session = "
        "t.session AND m.number >= t.first AND m.number < coalesce((SELECT min(n.first) FROM turn "
        "n WHERE n.session = t.session AND n.number > t.number), 1 << 60) WHERE t.id = ?)",
        (turn,),
    )
    for table in ("discusses", "resolves"):
        db.execute(f"DELETE FROM {table} WHERE turn = ?", (turn,))  # noqa: S608 - our names
    db.execute("DELETE FROM turn WHERE id = ?", (turn,))
