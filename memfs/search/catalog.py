"""Which sources are indexed, up to where. One SQLite file: its commit publishes an index run."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from contextlib import closing
from typing import NamedTuple

from memfs import files
from memfs.files import logs, trees

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)


class IndexSource(NamedTuple):
    """A file of the store that is indexed.

    `kind` is message, passage, window, fact, static or block. `grows`: only appended to, so its
    new tail is enough.
    """

    path: str
    kind: str
    grows: bool = False
    tier: str = ""
    label: str = ""


_SAMPLE = 4096  # bytes


class KnownSource(NamedTuple):
    """What the catalog knows of a source: how it looked, and up to where it is indexed.

    `mark` is what the indexed part looks like (see `mark`).
    """

    signature: str
    consumed: int
    mark: str = ""


def hash_ends(path: str, size: int) -> str:
    """Return a hash of the first and the last bytes of a file's first `size` bytes.

    A file that took the place of another may have its inode too; its bytes it has not.
    """
    try:
        with logs.open_stream(path) as handle:
            head = handle.read(min(size, _SAMPLE))
            handle.seek(max(0, size - _SAMPLE))
            tail = handle.read(min(size, _SAMPLE))
    except OSError:
        return ""
    return hashlib.sha256(head + tail).hexdigest()[:32]


def count_documents(folder: str) -> int:
    """Return one past the number of the last document of an index; nothing is written for it."""
    from urllib.parse import quote  # a hook opens none

    try:
        with closing(
            sqlite3.connect(f"file:{quote(folder)}/catalog.sqlite?mode=ro", uri=True)
        ) as db:
            row = db.execute("SELECT value FROM meta WHERE key = 'next'").fetchone()
    except sqlite3.Error:  # there is none, or it is damaged
        return 1
    return int(row[0]) if row else 1


class Catalog:
    """The catalog of one index folder. One that is damaged is made anew, empty."""

    def __init__(self, folder: str) -> None:
        files.make_folder(folder, private=True, durable=False)
        trees.clear_others(folder)
        path = f"{folder}/catalog.sqlite"
        self._db = sqlite3.connect(path, isolation_level=None)
        try:
            self._make()
        except sqlite3.DatabaseError as error:
            self._db.close()
            if error.sqlite_errorcode not in _DAMAGED:
                raise
            for suffix in ("", "-journal"):
                files.remove(path + suffix)
            self._db = sqlite3.connect(path, isolation_level=None)
            self._make()

    def _make(self) -> None:
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.execute("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT)")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS sources (path BLOB PRIMARY KEY, "
            "signature TEXT NOT NULL, consumed INTEGER NOT NULL, mark TEXT NOT NULL)"
        )
        self._db.execute("SELECT path, signature, consumed, mark FROM sources LIMIT 1").fetchone()

    def close(self) -> None:
        self._db.close()

    def get(self, key: str) -> str:
        """Return a setting, "" if it was never set."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def put(self, key: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def known(self) -> dict[str, KnownSource]:
        """Return every indexed source."""
        rows = self._db.execute("SELECT path, signature, consumed, mark FROM sources")
        return {os.fsdecode(path): KnownSource(*known) for path, *known in rows}

    def find(self, path: str) -> KnownSource | None:
        """Return what is known of one source."""
        query = "SELECT signature, consumed, mark FROM sources WHERE path = ?"
        row = self._db.execute(query, (os.fsencode(path),)).fetchone()
        return KnownSource(*row) if row else None

    def publish(self, next_number: int, done: dict[str, KnownSource | None]) -> None:
        """Record in one transaction what the last commit holds; None forgets a source."""
        self._db.execute("BEGIN IMMEDIATE")
        for path, known in done.items():
            if known is None:
                self._db.execute("DELETE FROM sources WHERE path = ?", (os.fsencode(path),))
            else:
                self._db.execute(
                    "INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?)",
                    (os.fsencode(path), *known),
                )
        self.put("next", str(next_number))
        self.put("dirty", "")
        self._db.execute("COMMIT")

    def clear(self) -> None:
        """Forget everything."""
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("DELETE FROM sources")
        self._db.execute("DELETE FROM meta")
        self._db.execute("COMMIT")
