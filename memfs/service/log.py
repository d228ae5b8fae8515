"""The log of the service: standard error goes there, so that nothing that goes wrong is lost."""

from __future__ import annotations

import os
import time
import traceback
from contextlib import suppress

from memfs import files

_SIZE = 256 << 10  # bytes, above which it begins anew
_STDERR = 2


def redirect_output(path: str) -> None:
    """Write to a file from now on; nowhere if there is no room for it."""
    with suppress(OSError):
        log, _ = files.open_file(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, _STDERR)
        os.close(log)


def line(text: str) -> None:
    """Write a line, or several; nothing happens if that fails."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with suppress(OSError, ValueError):
        if os.fstat(_STDERR).st_size > _SIZE:
            os.ftruncate(_STDERR, 0)
        os.write(_STDERR, f"{stamp} {text.rstrip()}\n".encode("utf-8", "replace"))


def failure() -> None:
    """Write what was raised just now, and where."""
    line(traceback.format_exc())
