"""A worker on a disk that is full until the file `ROOM` is there."""

import errno
import os
from typing import Any

from memfs.service import worker

_read_changes = worker.read_changes


def main() -> None:
    worker.read_changes = read_changes
    worker.main()


def read_changes(*given: Any, **named: Any) -> bool:
    if not os.path.exists(os.environ["ROOM"]):
        raise OSError(errno.ENOSPC, "No space left on device")
    return _read_changes(*given, **named)
