"""The record of each document in the vector index, and its deletion. Hot path.

Nothing here needs numpy: a hook that indexes one message deletes documents, too.
"""

import mmap
import os

from memfs import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FOLDER = "v5/vectors"  # the number changes with the file formats
VECTORS, OWNERS, DOCUMENTS = "vectors.i8", "owners.u32", "documents.u32"
# The columns: its first row, its session's group, its duplicate hash (`doc_json`), seconds since
# 1970, weight in percent (0: deleted), the documents of its group before and after it.
FIRST, GROUP, SAID, AT, WEIGHT, BEFORE, AFTER = range(7)
COLUMNS = 7
LARGEST = 127  # the largest entry of a row


def delete_documents(folder: str, numbers: "Iterable[int]") -> None:
    """Mark documents of the index in `folder` as deleted, in every model's vectors.

    Processes that have the index open see it. It is final: numbers are not reused.
    """
    try:
        models = [name for name, is_folder in files.entries(f"{folder}/{FOLDER}") if is_folder]
    except OSError:  # no vectors: deleted documents get none
        return
    gone = dict.fromkeys(numbers, 0)
    for model in models:
        write(f"{folder}/{FOLDER}/{model}/{DOCUMENTS}", WEIGHT, gone)


def write(path: str, column: int, values: "Mapping[int, int]") -> None:
    """Set a column of documents by number, in place; unknown numbers are ignored."""
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
    """Map a file of an index, or its first `size` bytes (`ValueError` if fewer; `OSError`)."""
    handle = files.open_file(path)[0]
    try:
        return mmap.mmap(handle, size, access=mmap.ACCESS_READ)
    finally:
        os.close(handle)
