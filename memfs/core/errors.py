"""The one error class. Doors print it in one place; nothing below a door prints."""

import errno
import os

REFUSED = 1
USAGE = 2
BUG = 70
STOPPED = 130  # by Ctrl-C


# Errors that reading malformed values of others raises, and damaged JSON.
UNREADABLE = (
    *(ValueError, OverflowError, TypeError, KeyError, IndexError),
    *(AttributeError, RecursionError),
)


# What a hint may name, as a person does it in a terminal, and a model with its tools.
_ACTIONS = {
    "add": ("memfs edit {label} --append TEXT", "core_memory_append"),
    "archive": ("memfs archive add", "archival_memory_insert"),
    "create": ("memfs create", "memory_create"),
    "every": ("--all", "all=true"),
    "list": (
        "list the blocks: memfs show --list",
        "list the blocks with memory_read without an id",
    ),
    "log": ("memfs log {label}", "the block's history"),
    "make_store": ("create a store: memfs init", "ask the user to create a store: memfs init"),
    "mend": ("memfs doctor --fix", "ask the user to run memfs doctor --fix, which"),
    "read": ("memfs show {label}", "memory_read"),
    "page_in": (
        "see the history of the block: memfs log {label}",
        "use memory_search to search the archive and past sessions",
    ),
    "rename": (
        ": memfs rename {label} LABEL",
        "; the user can rename it: memfs rename {label} LABEL",
    ),
    "rewrite": ("memfs edit {label} --set -", "memory_rethink"),
    "look": ("memfs show", "memory_read"),
    "versions": (
        "list the versions: memfs log {label}",
        "ask the user to list the versions: memfs log {label}",
    ),
    "session": (
        "pass --session ID, or run the command inside an assistant's session",
        "use the project or user tier: no session is open",
    ),
    "that_session": (
        "name the session of the block with --session ID",
        "use another block: no session is open",
    ),
    "trust": (
        "review and accept the changes: memfs trust",
        "ask the user to review the changes: memfs trust",
    ),
    "unpin": (
        "unpin another block (memfs edit LABEL --no-pin), or raise max_blocks in config.yaml",
        "pass 'pinned: false', add to an existing block, or use archival_memory_insert",
    ),
}


class Remedy(str):
    """A hint for a person, and the same `for_model`. `text` names actions in braces."""

    __slots__ = ("for_model",)
    for_model: str

    def __new__(cls, text: str, label: str = "", **given: object) -> "Remedy":  # noqa: PYI034 - hot
        person, model = (
            {name: words[door].format(label=label) for name, words in _ACTIONS.items()}
            for door in (0, 1)
        )
        self = super().__new__(cls, text.format(**person, **given))
        self.for_model = text.format(**model, **given)
        return self


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


class StoppedError(KeyboardInterrupt):
    """The user asked to stop. Raised where nothing is half-done: what is done can be kept."""


def is_stop(error: BaseException) -> bool:
    """Tell whether the user stopped the program; before 3.12 that may be a `RuntimeError`."""
    return isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt)


_PASSING = (5, 6, 7)  # SQLite: busy, locked, out of memory
# What the system refuses: room, writing, rights, a broken disk, more open files.
REFUSALS = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO),
    *(errno.EMFILE, errno.ENFILE),
)
_SQLITE = {  # its result codes, the extended ones first
    4874: errno.ENOSPC,  # no room for the shared memory of a log
    3: errno.EACCES,
    8: errno.EROFS,
    10: errno.EIO,
    13: errno.ENOSPC,
    14: errno.EACCES,
    23: errno.EACCES,
}


def is_panic(error: BaseException) -> bool:
    """Tell whether an error is the panic of a library in Rust, which is no `Exception`."""
    return type(error).__name__ == "PanicException"


def is_damage(error: BaseException) -> bool:
    """Tell whether an error is one that libraries raise for a damaged or forged file.

    A `MemfsError` other than `DamagedError`, an `OSError`, or a refusal of the system is none.
    """
    if isinstance(error, DamagedError):
        return True
    if find_refusal(error):
        return False
    if is_panic(error):
        return True
    if isinstance(error, MemfsError | OSError) or not isinstance(error, Exception):
        return False
    return getattr(error, "sqlite_errorcode", 0) & 0xFF not in _PASSING


def find_refusal(error: BaseException, path: str = "") -> OSError | None:
    """Return the refusal of the system that an error of any library stands for; None for none.

    tantivy, sqlite3 and usearch raise classes of their own, without a path: `path` is what they
    were used on ("": unknown). A file that is missing, or that is damaged, is no refusal.
    """
    if isinstance(error, MemfsError):
        return None
    number = error.errno if isinstance(error, OSError) else _find_number(error)
    if number not in REFUSALS:
        return None
    if isinstance(error, OSError) and error.filename:
        return error
    return OSError(number, os.strerror(number), path or None)


def _find_number(error: BaseException) -> int:
    """Return the number of the system's error in that of a library, 0 for none."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None:
        return _SQLITE.get(code, _SQLITE.get(code & 0xFF, 0))
    text = str(error)
    for number in REFUSALS:  # the first two are Rust's
        signs = (f"(os error {number})", f"code: {number}, kind", os.strerror(number))
        if any(sign in text for sign in signs):
            return number
    return 0
