"""The log of the service. Standard error goes there too, so that no error is lost."""

from __future__ import annotations

import os
import time
import traceback
from contextlib import suppress

from memfs import files

_SIZE = 256 << 10  # bytes, above which the log is emptied
_STDERR = 2


def redirect_output(path: str) -> None:
    """Append standard error to a file from now on. Does nothing if it cannot be opened."""
    with suppress(OSError):
        log, _ = files.open_file(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, _STDERR)
        os.close(log)


def write_line(text: str) -> None:
    """Write text with a time stamp. Errors are ignored."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with suppress(OSError, ValueError):
        if os.fstat(_STDERR).st_size > _SIZE:
            os.ftruncate(_STDERR, 0)
        os.write(_STDERR, f"{stamp} {text.rstrip()}\n".encode("utf-8", "replace"))


def failure() -> None:
    """Write the current exception with its traceback."""
    write_line(traceback.format_exc())
