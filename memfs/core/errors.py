"""The one error class. Doors print it in one place; nothing below a door prints."""

REFUSED = 1
USAGE = 2
BUG = 70


# Errors that reading malformed values of others raises, and damaged JSON.
UNREADABLE = (
    ValueError,
    OverflowError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    RecursionError,
)


class MemfsError(Exception):
    """An expected failure, with a hint on what to do about it.

    `message` completes the sentence "error: …", `hint` the sentence "hint: …" (may be empty);
    `code` is the exit status: 1 refused, 2 usage, 70 a bug.
    """

    code = REFUSED

    def __init__(self, message: str, hint: str = "", code: int = REFUSED) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code


class UsageError(MemfsError):
    """An invalid command, option or setting: exit status 2."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint, USAGE)


class RejectedError(MemfsError):
    """An edit that breaks a rule of its block: nothing was changed."""


class NotFoundError(MemfsError):
    """A label, version, passage or file that does not exist."""


class StoreError(MemfsError):
    """The store itself cannot be used: missing, unreadable, locked or damaged."""


class DamagedError(StoreError):
    """A derived file cannot be read: whoever may write rebuilds it."""


class LockedError(StoreError):
    """Another process holds the lock, and did not release it in time."""


# SQLite: disk full, no permission, locked: not damage.
_PASSING = (3, 5, 6, 7, 8, 10, 13, 14, 23)


def is_panic(error: BaseException) -> bool:
    """Tell whether an error is the panic of a library in Rust, which is no `Exception`."""
    return type(error).__name__ == "PanicException"


def is_damage(error: BaseException) -> bool:
    """Tell whether an error is one that libraries raise for a damaged or forged file.

    A `MemfsError` other than `DamagedError`, or an `OSError`, is none.
    """
    if isinstance(error, DamagedError) or is_panic(error):
        return True
    if isinstance(error, MemfsError | OSError) or not isinstance(error, Exception):
        return False
    return getattr(error, "sqlite_errorcode", 0) & 0xFF not in _PASSING
