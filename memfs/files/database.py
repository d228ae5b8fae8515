"""SQLite files of other programs, read while those run. Nothing is written to them or beside them.

A process of its own reads them: what is in them may be made to harm.
"""

from __future__ import annotations

import atexit
import base64
import errno
import json
import os
import shutil
import tempfile
import threading
from collections import deque
from contextlib import closing, contextmanager, suppress
from typing import cast
from urllib.parse import quote

from memfs import files
from memfs.files import child_process, outside, signatures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from subprocess import Popen
    from typing import BinaryIO

MAGIC = b"SQLite format 3\0"
PATIENCE = 10.0  # seconds without a row; SQLite itself gives up in half of them
_READER = os.path.join(os.path.dirname(__file__), "database_reader.py")
_ORDINARY = "CREATE TABLE "  # as SQLite itself begins what it writes of a table
_idle: list[tuple[int, Popen[bytes]]] = []  # at most one, by the process it is of
_WAL_FORMAT = b"\2\2"  # of bytes 18 and 19
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
    """An open database in one read-only transaction, read by a process of its own."""

    def __init__(self, address: str, path: str, patience: float) -> None:
        self._path, self._patience = path, patience
        self._process = _take_process()
        self._queries = cast("BinaryIO", self._process.stdin)
        self._lines = cast("BinaryIO", self._process.stdout)
        self._answer: _Answer | None = None
        try:
            self._ask({"address": address, "patience": patience / 2})
            self._answer = _Answer(self)
            self._answer.read_all()
        except BaseException:
            self.close()
            raise

    @property
    def process_id(self) -> int:
        """The number of the process that reads it."""
        return self._process.pid

    def close(self) -> None:
        """Close the file. Its process waits for another one if it answered all it was asked."""
        if self._answer is not None and self._answer.is_whole and not _idle:
            with suppress(OSError):
                self._ask({})
                _Answer(self).read_all()
                _idle.append((os.getpid(), self._process))
                return
        child_process.end_child(self._process)

    def list_tables(self) -> list[str]:
        """List the ordinary tables: views and virtual tables run what their author wrote."""
        found = self.run_query("SELECT name, sql, rootpage FROM sqlite_master WHERE type = 'table'")
        return [
            str(name)
            for name, sql, page in found
            if str(sql).startswith(_ORDINARY) and isinstance(page, int) and page > 0
        ]

    def list_columns(self, table: str) -> list[str]:
        """List the columns of a table; none of one that is missing."""
        return [str(row[1]) for row in self.run_query(f"PRAGMA table_info({_quote(table)})")]

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
        for values in self.run_query(query, where[1:] if where[0] else ()):
            yield Row(dict(zip(wanted, values, strict=True)))

    def list_keys(self, table: str, column: str, prefix: str) -> Iterator[str]:
        """Yield the texts of a column that begin with a prefix, in order, and read nothing else."""
        if table not in self.list_tables() or column not in self.list_columns(table):
            return
        name = _quote(column)
        query = (
            f"SELECT {name} FROM {_quote(table)} WHERE {name} >= ? AND {name} < ? ORDER BY {name}"  # noqa: S608 - names
        )
        for (key,) in self.run_query(query, (prefix, prefix + "\U0010ffff")):
            if isinstance(key, str):
                yield key

    def run_query(self, query: str, parameters: Sequence[str] = ()) -> Iterator[tuple[object, ...]]:
        """Yield the rows of a query of ours. Raises `OSError`.

        A query that another one interrupts is read to its end, and goes on from there.
        """
        if self._answer is not None:
            self._answer.read_all()
            self._answer = None
        self._ask([query, list(parameters)])
        self._answer = answer = _Answer(self)
        yield from answer

    def _ask(self, what: object) -> None:
        with suppress(BrokenPipeError):  # why it ended stands in its answer
            self._queries.write(json.dumps(what).encode() + b"\n")
            self._queries.flush()

    def read_line(self) -> bytes:
        """Return the next line of the process; it is ended if that does not come in time."""
        timer = threading.Timer(self._patience, self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            return self._lines.readline()
        finally:
            timer.cancel()

    def refuse(self, why: str) -> OSError:
        """Return the error of a file that cannot be read."""
        return OSError(errno.EIO, f"the database cannot be read ({why})", self._path)


def _take_process() -> Popen[bytes]:
    while _idle:
        owner, process = _idle.pop()
        if owner == os.getpid() and process.poll() is None:
            return process
    atexit.register(_end_idle)
    return child_process.start_script(_READER)


def _end_idle() -> None:
    atexit.unregister(_end_idle)
    while _idle:
        owner, process = _idle.pop()
        if owner == os.getpid():
            child_process.end_child(process)


class _Answer:
    """The rows of a query, which come in lines. `is_whole` once all of them did."""

    def __init__(self, base: Database) -> None:
        self._base, self._ended, self.is_whole = base, False, False
        self._rows: deque[list[object]] = deque()

    def __iter__(self) -> Iterator[tuple[object, ...]]:
        while self._rows or self._read():
            row = self._rows.popleft()
            yield tuple(
                base64.b64decode(value["bytes"]) if isinstance(value, dict) else value
                for value in row
            )

    def read_all(self) -> None:
        """Read the rows that are left."""
        while self._read():
            pass

    def _read(self) -> bool:
        if self._ended:
            return False
        line = self._base.read_line()
        if not line.endswith(b"\n"):
            self._ended = True
            raise self._base.refuse("reading took too long, or needed too much memory")
        found = json.loads(line)
        if isinstance(found, dict):
            self._ended = True
            raise self._base.refuse(
                "reading took too long" if found["error"] == "interrupted" else found["error"]
            )
        self._ended = self.is_whole = found is None
        self._rows += found or ()
        return bool(found)


def is_database(path: str) -> bool:
    """Tell whether a path names a SQLite file."""
    try:
        with outside.open_stream(path) as handle:
            return handle.read(len(MAGIC)) == MAGIC
    except (OSError, files.NotAFileError):
        return False


@contextmanager
def open_database(path: str, patience: float = PATIENCE) -> Iterator[Database]:
    """Open a database of another program, consistent while that runs. Raises `OSError`.

    Whatever is made to take long is ended after `patience` seconds without a row.
    """
    if outside.status(path) is None:
        raise FileNotFoundError(errno.ENOENT, "there is no such file", path)
    path = os.path.realpath(path)  # its other parts are beside the file, not beside a link to it
    if not _is_write_ahead(path) or os.path.lexists(f"{path}-shm"):
        with closing(Database(_make_address(path), path, patience)) as base:
            yield base
        return
    if not any(os.path.lexists(path + part) for part in _PARTS[1:]):
        before = _sign_file(path)
        with closing(Database(f"{_make_address(path)}&immutable=1", path, patience)) as base:
            yield base
        if _sign_file(path) != before:
            raise OSError(
                errno.EIO, "another program changed the database during the read; try again", path
            )
        return
    with tempfile.TemporaryDirectory(prefix="memfs-") as folder:
        for part in _PARTS:
            if outside.status(path + part):
                with (
                    outside.open_stream(path + part) as source,
                    open(f"{folder}/copy{part}", "wb") as target,
                ):
                    shutil.copyfileobj(source, target, 1 << 20)
        with closing(Database(_make_address(f"{folder}/copy"), path, patience)) as base:
            yield base


def _sign_file(path: str) -> signatures.Signature | None:
    found = outside.status(path)
    return found and signatures.Signature(found)


def _is_write_ahead(path: str) -> bool:
    with outside.open_stream(path) as handle:
        return handle.read(20)[18:] == _WAL_FORMAT


def _make_address(path: str) -> str:
    return f"file:{quote(path)}?mode=ro"


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
