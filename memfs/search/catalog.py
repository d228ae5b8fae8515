"""The catalog of indexed sources: one SQLite file, whose commit publishes an index run."""

import hashlib
import os
import sqlite3
from contextlib import closing
from typing import NamedTuple

from memfs import files
from memfs.files import logs, trees
from memfs.files.signatures import Signature

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)


class IndexSource(NamedTuple):
    """A file that is indexed.

    `kind` is window or one of `records.KINDS`. `grows`: only appended to, so that its new tail is
    enough. `signature` is that of the file, if it is known already.
    """

    path: str
    kind: str
    grows: bool = False
    tier: str = ""
    label: str = ""
    signature: Signature | None = None


class LeftOutError(Exception):
    """A file has no documents. Its message says why; it is read again once it has changed."""


_SAMPLE = 4096  # bytes


class KnownSource(NamedTuple):
    """A source in the catalog: its signature, and the number of bytes that are indexed.

    `mark` is the hash of the indexed part (see `hash_ends`) of one that grows, else why it was left
    out.
    """

    signature: str
    consumed: int
    mark: str = ""


def hash_ends(path: str, size: int) -> str:
    """Return a hash of the ends of a file's first `size` bytes (inodes recur); "" if unreadable."""
    try:
        with logs.open_stream(path) as handle:
            head = handle.read(min(size, _SAMPLE))
            handle.seek(max(0, size - _SAMPLE))
            tail = handle.read(min(size, _SAMPLE))
    except OSError:
        return ""
    return hashlib.sha256(head + tail).hexdigest()[:32]


def count_documents(folder: str) -> int:
    """Return one past the last document number of an index. Writes nothing."""
    path = folder.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        with closing(sqlite3.connect(f"file:{path}/catalog.sqlite?mode=ro", uri=True)) as db:
            row = db.execute("SELECT value FROM meta WHERE key = 'next'").fetchone()
    except sqlite3.Error:  # missing or damaged
        return 1
    return int(row[0]) if row else 1


class Catalog:
    """The catalog of one index folder. A damaged one is replaced by an empty one."""

    def __init__(self, folder: str) -> None:
        files.make_folder(folder, private=True, durable=False)
        trees.clear_others(folder)
        path = f"{folder}/catalog.sqlite"
        self._db = sqlite3.connect(path, isolation_level=None)
        try:
            self._create_tables()
        except sqlite3.DatabaseError as error:
            self._db.close()
            if error.sqlite_errorcode not in _DAMAGED:
                raise
            for suffix in ("", "-journal"):
                files.remove(path + suffix)
            self._db = sqlite3.connect(path, isolation_level=None)
            self._create_tables()

    def _create_tables(self) -> None:
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
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def put(self, key: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def list_sources(self) -> dict[str, KnownSource]:
        rows = self._db.execute("SELECT path, signature, consumed, mark FROM sources")
        return {os.fsdecode(path): KnownSource(*known) for path, *known in rows}

    def find(self, path: str) -> KnownSource | None:
        query = "SELECT signature, consumed, mark FROM sources WHERE path = ?"
        row = self._db.execute(query, (os.fsencode(path),)).fetchone()
        return KnownSource(*row) if row else None

    def list_marks(self) -> dict[str, str]:
        rows = self._db.execute("SELECT path, mark FROM sources WHERE mark != ''")
        return {os.fsdecode(path): mark for path, mark in rows}

    def count_sources(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM sources").fetchone()[0])

    def publish(self, next_number: int, done: dict[str, KnownSource | None]) -> None:
        """Record the sources of the last commit in one transaction; None removes a source."""
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
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("DELETE FROM sources")
        self._db.execute("DELETE FROM meta")
        self._db.execute("COMMIT")
