"""The connections to PostgreSQL, and its errors in the words of a team."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from psycopg import Connection, Error, OperationalError, ProgrammingError, errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import args_row
from psycopg_pool import ConnectionPool, PoolTimeout

from memfs.core.errors import MemfsError, UsageError

T = TypeVar("T")
Admin = Connection[tuple[Any, ...]]
SCHEMA = "memfs"
OLDEST = 150000  # the version of PostgreSQL that is needed, as the server gives it
_WAIT = 2.0  # seconds for a free connection
_LONGEST = 20_000  # milliseconds that a statement may take
REFUSED = (errors.InsufficientPrivilege, errors.FeatureNotSupported, errors.UndefinedFile)
_AWAY = ("08", "40", "53", "57")  # classes: connections, conflicts, resources, intervention
_CONFLICTS = (errors.DeadlockDetected, errors.SerializationFailure)
_TRIES = 3  # of a transaction that is in conflict with others
_RUNS_INIT = "ask the server's administrator to run memfs team init"
_UNPREPARED = {  # by PostgreSQL's codes
    "3F000": ("this database has no team yet", "run memfs team init --team NAME to create a team"),
    "42883": ("the database was set up by another version of memfs", _RUNS_INIT),
    "42P01": ("the database was set up by another version of memfs", _RUNS_INIT),
    "42501": (
        "this database login lacks the necessary permissions",
        "use the address that memfs team init printed; init itself needs a login with CREATEROLE",
    ),
}


class DatabaseAwayError(MemfsError):
    """The database cannot be reached, or is too busy."""


class UnpreparedError(MemfsError):
    """The database has no team, or tables of another version, or the login is the wrong one."""


class TokenError(MemfsError):
    """The token is unknown, expired or revoked."""


class NoAccessError(MemfsError):
    """The member may not do that, or not with this project; a missing one is no other case."""


class TeamDatabase:
    """A pool of connections that only call the functions of the schema. Thread-safe.

    No statement is prepared: after five calls PostgreSQL would plan it for any values, and choose
    another index. Raises `UsageError` for what is no address.
    """

    def __init__(self, address: str, connections: int = 8) -> None:
        _check_address(address)
        self._busy: set[Connection[Any]] = set()
        options = f"-c search_path={SCHEMA} -c statement_timeout={_LONGEST}"
        self._pool = ConnectionPool(
            address,
            min_size=1,
            max_size=connections,
            open=False,
            timeout=_WAIT,
            kwargs={"prepare_threshold": None, "options": options, "autocommit": True},
            check=ConnectionPool.check_connection,
        )

    def open(self) -> None:
        """Open the pool; a database that is away does not matter yet."""
        self._pool.open()

    def close(self) -> None:
        """End what runs, and close all connections."""
        for connection in list(self._busy):
            with suppress(Error):
                connection.cancel_safe(timeout=_WAIT)
        self._pool.close()

    def call(self, form: Callable[..., T], function: str, *values: object) -> list[T]:
        """Call a function in a transaction of its own; return `form` of the columns of each row.

        Raises `TokenError`, `NoAccessError`, `DatabaseAwayError` and `UnpreparedError`.
        """
        marks = ", ".join(["%s"] * len(values))
        statement = f"SELECT * FROM {SCHEMA}.{function}({marks})"  # noqa: S608 - a name of ours
        with convert_errors(), self._pool.connection() as connection:
            self._busy.add(connection)
            try:
                cursor = connection.cursor(row_factory=args_row(form))
                return retry_conflicts(lambda: cursor.execute(statement, values).fetchall())
            finally:
                self._busy.discard(connection)

    def describe(self) -> tuple[int, bool]:
        """Return the version of the schema, and whether there is pgvector."""
        return self.call(lambda version, vectors: (version, vectors), "describe")[0]


class Ledger:
    """What one member may do: calls of the functions with the hash of a token."""

    def __init__(self, database: TeamDatabase, token: str) -> None:
        self._database = database
        self._hash = hash_token(token)

    def call(self, form: Callable[..., T], function: str, *values: object) -> list[T]:
        """Call a function as `TeamDatabase.call` does."""
        return self._database.call(form, function, self._hash, *values)


def hash_token(token: str) -> bytes:
    """Return the hash of a token: nothing else of it is stored."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def retry_conflicts(transaction: Callable[[], T]) -> T:
    """Run a transaction, again where the database gave another one the way before it."""
    for _ in range(_TRIES - 1):
        with suppress(*_CONFLICTS):  # nothing of it was done
            return transaction()
    return transaction()


def connect(address: str) -> Admin:
    """Open one connection of an administrator. Raises `DatabaseAwayError` and `UsageError`."""
    _check_address(address)
    with convert_errors():
        return Connection.connect(address, prepare_threshold=None)


def _check_address(address: str) -> None:
    """Raise `UsageError` for what is no address, without repeating it: it may hold a password."""
    try:
        conninfo_to_dict(address)
    except ProgrammingError:
        raise UsageError(
            "the given database address is not a PostgreSQL address",
            "use postgresql://NAME@HOST/DATABASE, or the address that memfs team init printed",
        ) from None


@contextmanager
def convert_errors() -> Iterator[None]:
    """Raise the errors of the database as those of a team."""
    try:
        yield
    except PoolTimeout as error:
        raise DatabaseAwayError("the database does not answer", "try again in a moment") from error
    except Error as error:
        code = error.sqlstate or ""
        told = error.diag.message_primary or str(error).strip().partition("\n")[0]
        if code == "MF401":
            raise TokenError(told, "ask the server's administrator for a new token") from error
        if code == "MF403":
            hint = error.diag.message_hint or "run memfs team status to see your access"
            raise NoAccessError(told, hint) from error
        if code in _UNPREPARED:
            raise UnpreparedError(*_UNPREPARED[code]) from error
        if code[:2] in _AWAY or (isinstance(error, OperationalError) and not code):
            raise DatabaseAwayError(
                f"the database is not available: {told}", "try again later"
            ) from error
        raise
