"""What the vector index keeps of each document, and how one is marked as gone. Hot path.

Nothing here needs numpy: a hook that indexes one message takes documents out, too.
"""

import mmap
import os

from memfs import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FOLDER = "v3/vectors"  # the number changes with the files: others are another index
VECTORS, OWNERS, DOCUMENTS = "vectors.i8", "owners.u32", "documents.u32"
# The columns: its first row, what ties it to others, what it says (see `lexical`), seconds since
# 1970, percent that it counts (0: it is gone), the documents of its group before and after it.
FIRST, GROUP, SAID, AT, WEIGHT, BEFORE, AFTER = range(7)
COLUMNS = 7
LARGEST = 127  # of a row's entries


def forget(folder: str, numbers: "Iterable[int]") -> None:
    """Mark documents of the index in `folder` as gone, also for those who have it open.

    For good: numbers are not given twice. Each model has vectors of its own.
    """
    try:
        models = [name for name, is_folder in files.entries(f"{folder}/{FOLDER}") if is_folder]
    except OSError:  # no vectors: what is gone gets none
        return
    gone = dict.fromkeys(numbers, 0)
    for model in models:
        write(f"{folder}/{FOLDER}/{model}/{DOCUMENTS}", WEIGHT, gone)


def write(path: str, column: int, values: "Mapping[int, int]") -> None:
    """Set a column of documents by number, in place; what the file does not have is left out."""
    try:
        file, status = files.open_file(path, os.O_RDWR)
    except OSError:
        return
    try:
        count = status.st_size // (4 * COLUMNS)
        for number, value in values.items():
            if number < count:
                os.lseek(file, 4 * (number * COLUMNS + column), os.SEEK_SET)
                os.write(file, value.to_bytes(4, "little"))
        os.fsync(file)
    finally:
        os.close(file)


def map_file(path: str, size: int = 0) -> mmap.mmap:
    """Map a file of an index for reading, or its first `size` bytes.

    Raises `OSError`, or `ValueError` if it has fewer.
    """
    handle = files.open_file(path)[0]
    try:
        return mmap.mmap(handle, size, access=mmap.ACCESS_READ)
    finally:
        os.close(handle)
