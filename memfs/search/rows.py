"""What the vector index keeps of each document, and how one is marked as gone.

Nothing here needs numpy: a hook that indexes one message takes documents out, too.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = "v3/vectors"  # the number changes with the files: others are another index
DOCUMENTS = "documents.u32"
# The columns: its first row, what ties it to others, what it says (see `lexical`), seconds since
# 1970, percent that it counts. A weight of 0: it is gone.
FIRST, GROUP, SAID, AT, WEIGHT = range(5)
COLUMNS = 5


def forget(folder: str, numbers: Iterable[int]) -> None:
    """Mark documents of the index in `folder` as gone, also for those who have it open.

    For good: numbers are not given twice. Each model has vectors of its own.
    """
    try:
        models = os.listdir(f"{folder}/{FOLDER}")
    except OSError:  # no vectors: what is gone gets none
        return
    gone = list(numbers)
    for model in models:
        _forget(f"{folder}/{FOLDER}/{model}/{DOCUMENTS}", gone)


def _forget(path: str, numbers: list[int]) -> None:
    try:
        file = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    except OSError:
        return
    try:
        count = os.fstat(file).st_size // (4 * COLUMNS)
        for number in numbers:
            if number < count:
                os.lseek(file, 4 * (number * COLUMNS + WEIGHT), os.SEEK_SET)
                os.write(file, bytes(4))
        os.fsync(file)
    finally:
        os.close(file)
