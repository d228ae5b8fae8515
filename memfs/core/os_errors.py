"""What the system refuses, told to a person: what, on which path, and what to do about it."""

import errno
import os
import shlex

from memfs.core.errors import MemfsError

_AGAIN = "then run the command again"
_RIGHTS = f"check the owner and permissions: ls -la {{folder}}; {_AGAIN}"
_ADVICE = {  # by number: (what happened, what to do)
    errno.ENOSPC: ("the disk is full: cannot write {path}", f"free space on the disk, {_AGAIN}"),
    errno.EDQUOT: (
        "your disk quota is exceeded: cannot write {path}",
        f"delete files or ask for a larger quota, {_AGAIN}",
    ),
    errno.EROFS: (
        "the disk is read-only: cannot write {path}",
        f"mount the disk for writing or work in a copy on another disk, {_AGAIN}",
    ),
    errno.EACCES: ("you have no permission to use {path}", _RIGHTS),
    errno.EPERM: ("you have no permission to change {path}", _RIGHTS),
    errno.ENOLCK: (
        "the file system cannot lock {path}",
        "mount the network folder with file locking, or move the project to a local disk",
    ),
    errno.ESTALE: (
        "the network folder with {path} is no longer available",
        "mount the folder again, " + _AGAIN,
    ),
    errno.ETIMEDOUT: (
        "the disk does not respond: {path}",
        "check that the network folder is mounted",
    ),
    errno.EBUSY: ("{path} is in use by another program", f"close the program, {_AGAIN}"),
    errno.EFBIG: (
        "{path} would exceed the limit on file size",
        "raise the limit: ulimit -f unlimited",
    ),
    errno.ENAMETOOLONG: ("the name is too long: {path}", "choose a shorter name"),
    errno.ENOMEM: ("out of memory: cannot use {path}", f"close other programs, {_AGAIN}"),
    errno.ENOTDIR: (
        "one of the folders in the path {path} is a file",
        "find the file: ls -la {folder}",
    ),
    errno.EISDIR: ("{path} is a folder, but a file was expected", "move the folder away"),
    errno.ENOENT: ("{path} does not exist", "check the path: ls -la {folder}"),
    errno.EIO: ("the disk failed to read or write {path}", "check the disk, and back up its files"),
    errno.EMFILE: ("too many open files: cannot open {path}", "raise the limit: ulimit -n 4096"),
    errno.ENFILE: ("too many open files: cannot open {path}", "close other programs"),
}
_CANNOT = (
    "the file system does not support this operation: {path}",
    "move the project to a local disk",
)
_ADVICE |= dict.fromkeys((errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV), _CANNOT)
_OTHER = "check the folders and disks of the store: memfs doctor"


def describe_refusal(error: OSError) -> MemfsError:
    """Return what to tell a person of an error of the system: what, on which path, what to do."""
    path = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
    if error.errno not in _ADVICE:
        return MemfsError(f"{error.strerror or error}: {path}".rstrip(": "), _OTHER)
    what, advice = _ADVICE[error.errno]
    folder = shlex.quote(os.path.dirname(path) or ".")
    unnamed = "the file or folder" if error.errno == errno.ENOENT else "a file"
    return MemfsError(what.format(path=path or unnamed), advice.format(folder=folder))
