"""Refusals of the system, whichever library names them: what happened, where, and what to do."""

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memfs.core import os_errors
from memfs.core.errors import DamagedError, find_refusal, is_damage
from memfs.files import LinkError


@pytest.mark.parametrize(
    ("error", "number"),
    [
        (ValueError("Internal error: 'No space left on device (os error 28)'"), errno.ENOSPC),
        (ValueError("An IO error occurred: 'Read-only file system (os error 30)'"), errno.EROFS),
        (ValueError("IoError { io_error: Os { code: 13, kind: PermissionDenied"), errno.EACCES),
        (RuntimeError("Disk quota exceeded"), errno.EDQUOT),
        (OSError(errno.ENOSPC, "No space left on device"), errno.ENOSPC),
        (ValueError("An IO error occurred: 'No such file or directory (os error 2)'"), None),
        (ValueError("Data corrupted"), None),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "/x"), None),
        (LinkError("/x"), None),
        (DamagedError("the index is damaged"), None),
    ],
)
def test_errors_of_libraries(error: Exception, number: int | None) -> None:
    found = find_refusal(error, "/m/index")
    assert (found and found.errno) == number
    if found:
        assert found.filename == "/m/index"
        assert not is_damage(error)


def test_errors_of_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE t (a)")
        db.execute("PRAGMA max_page_count = 2")
        with pytest.raises(sqlite3.OperationalError) as full:
            db.execute("INSERT INTO t VALUES (zeroblob(100000))")
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        with pytest.raises(sqlite3.OperationalError) as read_only:
            db.execute("INSERT INTO t VALUES (1)")
        with pytest.raises(sqlite3.OperationalError) as bug:
            db.execute("SELECT nothing FROM t")
    numbers = [find_refusal(each.value, "/i") for each in (full, read_only, bug)]
    assert [each and each.errno for each in numbers] == [errno.ENOSPC, errno.EROFS, None]


@pytest.mark.parametrize(
    ("number", "message", "hint"),
    [
        (errno.ENOSPC, "the disk is full: cannot write /a b/c", "free space on the disk, "),
        (errno.EDQUOT, "your disk quota is exceeded: cannot write /a b/c", "delete files"),
        (errno.EROFS, "the disk is read-only: cannot write /a b/c", "mount the disk"),
        (
            errno.EACCES,
            "you have no permission to use /a b/c",
            "check the owner and permissions: ls -la '/a b';",
        ),
        (errno.ENOLCK, "the file system cannot lock /a b/c", "mount the network folder"),
        (
            errno.ENOTDIR,
            "one of the folders in the path /a b/c is a file",
            "find the file: ls -la '/a b'",
        ),
    ],
)
def test_what_is_told(number: int, message: str, hint: str) -> None:
    told = os_errors.describe_refusal(OSError(number, os.strerror(number), "/a b/c"))
    assert told.message == message
    assert told.hint.startswith(hint)
    assert told.code == 1


@pytest.mark.parametrize("number", errno.errorcode)
def test_every_error_names_the_path_and_what_to_do(number: int) -> None:
    told = os_errors.describe_refusal(OSError(number, os.strerror(number), "/a b/c"))
    assert "/a b/c" in told.message
    assert told.hint


def test_an_error_without_a_path() -> None:
    told = os_errors.describe_refusal(OSError(errno.ENOSPC, "No space left on device"))
    assert told.message == "the disk is full: cannot write a file"
    assert os_errors.describe_refusal(OSError("odd")).message == "odd"
