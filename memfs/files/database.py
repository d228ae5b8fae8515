"""SQLite files of other programs, read while those run. Nothing is written to them or beside them.

A live database is not one file: what was written last is in its `-wal`. It is read where it is if
its owner has it open, or closed it cleanly. Else a copy of its parts is, because opening it would
write beside it.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from urllib.parse import quote

from memfs import files
from memfs.files import outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAGIC = b"SQLite format 3\0"
_WAIT = 2.0  # seconds for one who writes
_WAL_FORMAT = b"\2\2"  # of bytes 18 and 19
_LONGEST = 64 << 20  # bytes of a value
_PARTS = ("", "-wal", "-journal")


class Row:
    """A row: its values by column. A column that its table does not have is missing."""

    __slots__ = ("values",)

    def __init__(self, values: dict[str, object]) -> None:
        self.values = values

    def text(self, *names: str) -> str:
        """Return the first of these columns that holds a text with a word, else ""."""
        found = (self.values.get(name) for name in names)
        return next((each for each in found if isinstance(each, str) and each.strip()), "")


class Database:
    """An open database in one read-only transaction."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._connection, self._path = connection, path

    def list_tables(self) -> list[str]:
        """List the ordinary tables: views and virtual tables run what their author wrote."""
        found = self._query("SELECT name, sql FROM sqlite_master WHERE type = 'table'", ())
        return [
            str(name) for name, sql in found if not str(sql).upper().startswith("CREATE VIRTUAL")
        ]

    def list_columns(self, table: str) -> list[str]:
        """List the columns of a table; none of one that is missing."""
        return [str(row[1]) for row in self._query(f"PRAGMA table_info({_quote(table)})", ())]

    def read_rows(
        self, table: str, columns: Sequence[str], order: str = "", where: tuple[str, str] = ("", "")
    ) -> Iterator[Row]:
        """Yield the rows of a table with those of `columns` that it has.

        They are ordered by the column `order`, and limited to those whose column `where[0]` is the
        text `where[1]`. Without the table there are none. Raises `OSError`.
        """
        if table not in self.list_tables():
            return
        there = self.list_columns(table)
        wanted = [each for each in columns if each in there]
        if not wanted or (where[0] and where[0] not in there):
            return
        query = f"SELECT {', '.join(map(_quote, wanted))} FROM {_quote(table)}"  # noqa: S608 - names
        query += f" WHERE {_quote(where[0])} = ?" if where[0] else ""
        query += f" ORDER BY {_quote(order)}" if order in there else ""
        for values in self._query(query, where[1:] if where[0] else ()):
            yield Row(dict(zip(wanted, values, strict=True)))

    def list_keys(self, table: str, column: str, prefix: str) -> Iterator[str]:
        """Yield the texts of a column that begin with a prefix, in order, and read nothing else.

        With an index on the column that takes as long as there are such texts, however large the
        table is. Raises `OSError`.
        """
        if table not in self.list_tables() or column not in self.list_columns(table):
            return
        name = _quote(column)
        query = (
            f"SELECT {name} FROM {_quote(table)} WHERE {name} >= ? AND {name} < ? ORDER BY {name}"  # noqa: S608 - names
        )
        for (key,) in self._query(query, (prefix, prefix + "\U0010ffff")):
            if isinstance(key, str):
                yield key

    def _query(self, query: str, parameters: Sequence[str]) -> Iterator[tuple[object, ...]]:
        try:
            yield from self._connection.execute(query, parameters)
        except (sqlite3.Error, UnicodeError, OverflowError) as error:
            raise _refuse(error, self._path) from error


def is_database(path: str) -> bool:
    """Tell whether a path names a SQLite file."""
    try:
        with outside.open_stream(path) as handle:
            return handle.read(len(MAGIC)) == MAGIC
    except (OSError, files.NotAFileError):
        return False


def find_columns(path: str, table: str) -> list[str]:
    """Return the columns of a table in a SQLite file; none for a file that has or is no such."""
    if not is_database(path):
        return []
    try:
        with open_database(path) as base:
            return base.list_columns(table) if table in base.list_tables() else []
    except OSError:
        return []


@contextmanager
def open_database(path: str) -> Iterator[Database]:
    """Open a database of another program, consistent while that runs. Raises `OSError`."""
    if outside.status(path) is None:
        raise FileNotFoundError(errno.ENOENT, "there is no such file", path)
    path = os.path.realpath(path)  # its other parts are beside the file, not beside a link to it
    if not _is_write_ahead(path) or os.path.lexists(f"{path}-shm"):
        with closing(_connect(path)) as connection:
            yield Database(connection, path)
        return
    if not any(os.path.lexists(path + part) for part in _PARTS[1:]):
        before = _get_version(path)
        with closing(_connect(path, option="&immutable=1")) as connection:
            yield Database(connection, path)
        if _get_version(path) != before:
            raise OSError(errno.EIO, "its owner wrote to it at the same time: try again", path)
        return
    with tempfile.TemporaryDirectory(prefix="memfs-") as folder:
        for part in _PARTS:
            if outside.status(path + part):
                with (
                    outside.open_stream(path + part) as source,
                    open(f"{folder}/copy{part}", "wb") as target,
                ):
                    shutil.copyfileobj(source, target, 1 << 20)
        with closing(_connect(f"{folder}/copy", path)) as connection:
            yield Database(connection, path)


def _get_version(path: str) -> tuple[int, int]:
    """Return what changes whenever a file that all is in is written to."""
    found = outside.status(path)
    return (found.st_size, found.st_mtime_ns) if found else (0, 0)


def _is_write_ahead(path: str) -> bool:
    with outside.open_stream(path) as handle:
        return handle.read(20)[18:] == _WAL_FORMAT


def _connect(path: str, named: str = "", option: str = "") -> sqlite3.Connection:
    """Open a database and begin to read: all queries see one state of it."""
    connection = None
    try:
        connection = sqlite3.connect(f"file:{quote(path)}?mode=ro{option}", uri=True, timeout=_WAIT)
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except (sqlite3.Error, UnicodeError) as error:
        if connection is not None:
            connection.close()
        raise _refuse(error, named or path) from error
    return connection


def _refuse(error: Exception, path: str) -> OSError:
    return OSError(errno.EIO, f"the database cannot be read: {error}", path)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
