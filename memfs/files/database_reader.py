"""Run as a process of its own: reads a SQLite file that another program wrote, and can be killed.

It takes a line of JSON for each file and each query, and answers with lines of rows, then `null`.
"""

import base64
import json
import sqlite3
import sys
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

_WAIT = 2.0  # seconds for one who writes
_LONGEST = 64 << 20  # bytes of a value
_HEAP = 512 << 20  # bytes
_STEPS = 20_000  # of SQLite's machine, after which it is asked whether to go on
_PER_ROW, _PER_BYTE = 1e-3, 1e-7  # seconds of work that a row may take
_LEAST = 4  # bytes that a row takes in a file
_REPEATED = 4  # times that a query may bring what is in the file: defaults are there once
_PRAGMAS = ("table_info", "page_count", "page_size")
_AT_ONCE = 1 << 18  # bytes of rows in a line, about
_ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_TRANSACTION)
_FUNCTIONS = ("count", "max", "coalesce")
_OFF = ("ENABLE_VIEW", "ENABLE_TRIGGER", "TRUSTED_SCHEMA", "ENABLE_FTS3_TOKENIZER")


def main() -> None:
    """Answer until the input ends.

    `{address, patience}` opens a file in place of the one before, `{}` closes it, and
    `[query, values]` reads.
    """
    answers = sys.stdout.buffer
    reader = None
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        try:
            if isinstance(asked, dict):
                if reader is not None:
                    reader.close()
                reader = _Reader(**asked) if asked else None
            elif reader is not None:
                reader.answer(asked[0], asked[1], answers)
            _write(answers, None)
        except (sqlite3.Error, UnicodeError, OverflowError, MemoryError) as error:
            _write(answers, {"error": str(error) or type(error).__name__})


class _Reader:
    """A connection in one read-only transaction, whose queries end when they bring too little.

    `patience` is in seconds of work; what its rows are worth is added to it. A query brings no more
    than the file has room for: pages that stand in each other's place make rows without end.
    """

    def __init__(self, address: str, patience: float) -> None:
        self._deadline = time.process_time() + patience
        self._connection = connection = sqlite3.connect(address, uri=True, timeout=_WAIT)
        for name in _OFF:  # Python 3.12; the authorizer does it as well
            with suppress(AttributeError):
                connection.setconfig(getattr(sqlite3, f"SQLITE_DBCONFIG_{name}"), False)  # type: ignore[attr-defined]
        with suppress(AttributeError):
            connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)  # type: ignore[attr-defined]
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100)
        connection.setlimit(sqlite3.SQLITE_LIMIT_VDBE_OP, 25_000)
        for name in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON"):
            connection.execute(f"PRAGMA {name}")
        connection.execute("PRAGMA mmap_size = 0")
        connection.execute(f"PRAGMA hard_heap_limit = {_HEAP}")
        connection.set_progress_handler(self._is_late, _STEPS)
        connection.set_authorizer(_authorize)
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (pages,), (page_size,) = (
            connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size")
        )
        self._room = pages * page_size

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def answer(self, query: str, parameters: "list[str]", answers: "IO[bytes]") -> None:
        """Write the rows of a query, some in a line."""
        rows, size = [], 0
        left, room = self._room // _LEAST, self._room * _REPEATED
        for row in self._connection.execute(query, parameters):
            values = [_encode(value) for value in row]
            rows.append(values)
            length = sum(len(value) if isinstance(value, (str, bytes)) else 1 for value in row)
            left, room = left - 1, room - length
            if left < 0 or room < 0:
                raise sqlite3.DatabaseError("the database returned more data than memfs can copy")
            self._deadline += _PER_ROW + length * _PER_BYTE
            if self._is_late():
                raise sqlite3.OperationalError("interrupted")
            size += length
            if size > _AT_ONCE:
                _write(answers, rows)
                rows, size = [], 0
        if rows:
            _write(answers, rows)

    def _is_late(self) -> bool:
        return time.process_time() > self._deadline


def _authorize(
    action: int, first: str | None, second: str | None, _base: str | None, inside: str | None
) -> int:
    """Allow to read tables: nothing that a view or a trigger does (`inside`), and few functions."""
    if inside is not None:
        return sqlite3.SQLITE_DENY
    if action in _ALLOWED or (action == sqlite3.SQLITE_PRAGMA and first in _PRAGMAS):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and second in _FUNCTIONS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _encode(value: object) -> object:
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    return value


def _write(answers: "IO[bytes]", value: object) -> None:
    answers.write(json.dumps(value).encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    main()
