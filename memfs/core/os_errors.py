"""What the system refuses, told to a person: what, on which path, and what to do about it."""

import errno
import os
import shlex

from memfs.core.errors import MemfsError

_AGAIN = "then run the command again: no file is half-written"
_RIGHTS = f"see who owns it, and its rights: ls -la {{folder}}; {_AGAIN}"
_ADVICE = {  # by number: (what happened, what to do)
    errno.ENOSPC: ("the disk is full: {path} cannot be written", f"make room on it, {_AGAIN}"),
    errno.EDQUOT: (
        "your share of the disk is used up: {path} cannot be written",
        f"make room in it, or ask for more, {_AGAIN}",
    ),
    errno.EROFS: (
        "the disk is read-only: {path} cannot be written",
        f"mount it for writing, or work in a copy on another disk, {_AGAIN}",
    ),
    errno.EACCES: ("you may not use {path}", _RIGHTS),
    errno.EPERM: ("you may not change {path}", _RIGHTS),
    errno.ENOLCK: (
        "the file system gives no lock on {path}",
        "memfs needs one to write: mount the network folder with locks, or work on a local disk",
    ),
    errno.ESTALE: ("the network folder of {path} is gone", "mount it again, " + _AGAIN),
    errno.ETIMEDOUT: (
        "the disk does not answer: {path}",
        "check whether a network folder is missing",
    ),
    errno.EBUSY: ("something else uses {path}", f"end that, {_AGAIN}"),
    errno.EFBIG: (
        "{path} would be larger than a file may be here",
        "ulimit -f unlimited allows it",
    ),
    errno.ENAMETOOLONG: ("the name is too long: {path}", "choose a shorter one"),
    errno.ENOMEM: ("there is no memory left for {path}", f"end other programs, {_AGAIN}"),
    errno.ENOTDIR: ("a part of {path} is no folder", "see what is there: ls -la {folder}"),
    errno.EISDIR: ("{path} is a folder, and was to be a file", "move it away"),
    errno.ENOENT: ("there is no {path}", "see what is there: ls -la {folder}"),
    errno.EIO: ("the disk fails at {path}", "check it, and copy its files"),
    errno.EMFILE: ("too many files are open: {path}", "ulimit -n 4096 allows more"),
    errno.ENFILE: ("too many files are open: {path}", "close some programs"),
}
_CANNOT = ("the file system cannot do that with {path}", "move the project to a local disk")
_ADVICE |= dict.fromkeys((errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV), _CANNOT)
_OTHER = "memfs doctor checks the folders and disks of a store"


def describe_refusal(error: OSError) -> MemfsError:
    """Return what to tell a person of an error of the system: what, on which path, what to do."""
    path = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
    if error.errno not in _ADVICE:
        return MemfsError(f"{error.strerror or error}: {path}".rstrip(": "), _OTHER)
    what, advice = _ADVICE[error.errno]
    folder = shlex.quote(os.path.dirname(path) or ".")
    unnamed = "such file or folder" if error.errno == errno.ENOENT else "a file"
    return MemfsError(what.format(path=path or unnamed), advice.format(folder=folder))
