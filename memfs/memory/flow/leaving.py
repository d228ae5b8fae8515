"""What leaves the graph: turns that a person took out, and the oldest, where it has bounds."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

from memfs.memory.flow import database
from memfs.store import files, layout, lock

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

    from memfs.store.layout import Store

LOCK = "flow.lock"
_STATE = "graph.state.json"  # from when on turns are in the graph: it can be built anew

Row = tuple[int, str, int, str, str, str, str, str]  # id, session, number, at, prompt, reply, ...


def first(store: Store) -> str:
    """Return the time before which turns have left, "" for none."""
    try:
        text = files.read(f"{store.local}/{_STATE}") or "{}"
        return str(json.loads(text).get("first", ""))
    except (ValueError, AttributeError):
        return ""


def oldest(
    store: Store, keep: int, most_bytes: int, before: str,
    archive: Callable[[Sequence[Row]], object],
) -> int:  # fmt: skip
    """Let the oldest turns leave: down to `keep` messages (0: any), bytes, and a time.

    `archive` takes them before they are gone. Returns how many turns left.
    """
    with lock.hold(store, name=LOCK), closing(database.opened(store.index)) as db:
        messages = int(db.execute("SELECT count(*) FROM message").fetchone()[0])
        size = int(db.execute(
            "SELECT coalesce(sum(length(prompt) + length(reply)), 0) FROM turn"
        ).fetchone()[0])  # fmt: skip
        gone: list[Row] = []
        after = ""
        rows = db.execute(
            "SELECT t.id, s.name, t.number, t.at, t.prompt, t.reply, t.steps, t.why, "
            "(SELECT count(*) FROM message m WHERE m.session = t.session AND m.number >= t.first "
            "AND m.number < coalesce((SELECT min(n.first) FROM turn n WHERE n.session = t.session "
            "AND n.number > t.number), 1 << 60)) "
            "FROM turn t JOIN session s ON s.id = t.session ORDER BY t.at, t.id"
        )
        for *row, count in rows:
            over = bool(keep) and messages > keep
            if not over and (not most_bytes or size <= most_bytes) and row[3] >= before:
                after = row[3]
                break
            messages -= count
            size -= len(row[4]) + len(row[5])
            gone.append(tuple(row))
        if not gone:
            return 0
        archive(gone)
        db.execute("BEGIN")
        for row in gone:
            _take(db, row[0])
        db.execute("COMMIT")
        layout.make_local(store)
        text = json.dumps({"first": after or gone[-1][3] + "~"})
        files.write(f"{store.local}/{_STATE}", text, private=True)
    return len(gone)


def forget_before(db: sqlite3.Connection, since: str) -> None:
    """Take out the turns that have left, where the graph was built anew."""
    if since:
        for (ident,) in db.execute("SELECT id FROM turn WHERE at < ?", (since,)).fetchall():
            _take(db, ident)


def take_out(db: sqlite3.Connection, session: str, number: int) -> None:
    """Take a turn of a session out, all of them for number 0."""
    rows = db.execute(
        "SELECT t.id FROM turn t JOIN session s ON s.id = t.session WHERE s.name = ? "
        "AND (? = 0 OR t.number = ?)", (session, number, number),
    )  # fmt: skip
    for (ident,) in rows.fetchall():
        _take(db, ident)


def _take(db: sqlite3.Connection, turn: int) -> None:
    """Take a turn out, with its messages and edges."""
    db.execute(
        "DELETE FROM message WHERE id IN (SELECT m.id FROM turn t JOIN message m "
        "ON m.session = t.session AND m.number >= t.first AND m.number < "
        "coalesce((SELECT min(n.first) FROM turn n WHERE n.session = t.session "
        "AND n.number > t.number), 1 << 60) WHERE t.id = ?)", (turn,),
    )  # fmt: skip
    for table in ("discusses", "resolves"):
        db.execute(f"DELETE FROM {table} WHERE turn = ?", (turn,))  # noqa: S608 - our names
    db.execute("DELETE FROM turn WHERE id = ?", (turn,))
