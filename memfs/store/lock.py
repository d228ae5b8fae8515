"""The locks of a store: one writer at a time, released by the system when its owner dies."""

import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

from memfs import files
from memfs.core.errors import LockedError
from memfs.store import local_folder
from memfs.store.store_paths import Store

WAIT = 10.0  # seconds

# Names of files in `local/`, in the order in which a process takes several. Those of data sources
# (`source_index.hold_lock`) come before them.
SYNC = "sync.lock"  # of the user's store with its remote; held while git talks to that
INGEST = "ingest.lock"  # recall; held while transcripts are read
VECTORS = "model.lock"  # the vectors of a new model; its holder makes all, in steps
VECTOR_GRAPH = "graph.lock"  # held while it is built
INDEX = "index.lock"
SESSION_GRAPH = "flow.lock"
KINDS = "facts.lock"  # facts, static texts, windows, outcomes of sessions
STORE = "lock"  # blocks, journal, configuration
REVIEW = "trust.lock"  # which changes of others were accepted; held while git is asked
_ORDER = (SYNC, INGEST, VECTORS, VECTOR_GRAPH, INDEX, SESSION_GRAPH, KINDS, STORE, REVIEW)


def claim_lock(store: Store, name: str, above: int) -> int | None:
    """Take a lock for a process that is about to start; None if it is taken already.

    Returns an open file with a number above `above` for that process, which passes it to
    `hold_lock`. The caller closes it.
    """
    handle = _open(store, name)
    try:
        if not _try_lock(handle, f"{store.local}/{name}"):
            return None
        with suppress(OSError):  # its last owner is in it no more
            os.ftruncate(handle, 0)
        return fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, above + 1)
    finally:
        os.close(handle)


@contextmanager
def hold_lock(
    store: Store, wait: float = WAIT, name: str = STORE, claimed: int | None = None
) -> Iterator[None]:
    """Hold a lock of a store, waiting at most `wait` seconds; raises `LockedError` after them.

    The file stays: removing it would let two owners in. It names its owner, for the error message
    of whoever waits in vain. `claimed` is the open file that `claim_lock` returned.
    """
    path = f"{store.local}/{name}"
    handle = _open(store, name) if claimed is None else claimed
    try:
        os.set_inheritable(handle, False)  # one that was claimed came to us so
        deadline = time.monotonic() + wait
        pause = 0.001
        while not _try_lock(handle, path):
            if time.monotonic() >= deadline:
                owner = os.read(handle, 40).decode("ascii", "replace") or "another process"
                raise LockedError(
                    f"the store is locked by {owner} (waited {wait:g} s)",
                    f"run the command again; if the process hangs, stop it (lock file: {path})",
                )
            time.sleep(pause)
            pause = min(pause * 2, 0.05)
        with suppress(OSError):  # a full disk: the lock holds without a name
            os.ftruncate(handle, 0)
            os.write(handle, f"process {os.getpid()}".encode())
        yield
    finally:
        os.close(handle)


@contextmanager
def hold_locks(stores: Sequence[Store], *names: str) -> Iterator[None]:
    """Hold locks of several stores. All take them in one order, so that none waits for the other.

    Raises `LockedError`.
    """
    with ExitStack() as stack:
        for name in sorted(names, key=_ORDER.index):
            for store in sorted(stores, key=lambda each: os.path.realpath(each.local)):
                stack.enter_context(hold_lock(store, name=name))
        yield


def check_lock(store: Store) -> None:
    """Raise the `OSError` with which the file system refuses the lock of a store, if it does."""
    with suppress(LockedError), hold_lock(store, wait=0):
        pass


def _try_lock(handle: int, path: str) -> bool:
    """Take the lock if it is free; raises `OSError` with its path where there are no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise files.name_errors(error, path) from None
    return True


def _open(store: Store, name: str) -> int:
    local_folder.make(store)
    return files.open_file(f"{store.local}/{name}", os.O_RDWR | os.O_CREAT)[0]
