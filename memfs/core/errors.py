"""The one error class. Doors print it in one place; nothing below a door prints."""

REFUSED = 1
USAGE = 2
BUG = 70


class MemfsError(Exception):
    """An expected failure: what was wrong, and what to do about it.

    `message` completes the sentence "error: …", `hint` the sentence "hint: …" (may be empty);
    `code` is the exit status: 1 refused, 2 usage, 70 a bug.
    """

    code = REFUSED

    def __init__(self, message: str, hint: str = "", code: int = REFUSED) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code


class RejectedError(MemfsError):
    """An edit that breaks a rule of its block: nothing was changed."""


class NotFoundError(MemfsError):
    """A label, version, passage or file that does not exist."""


class StoreError(MemfsError):
    """The store itself cannot be used: missing, unreadable, locked or damaged."""


class LockedError(StoreError):
    """Another process holds the lock, and did not let go in time."""
