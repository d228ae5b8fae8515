"""The files of the vector index, and each document's record in them. Hot path: no numpy."""

import json
import mmap
import os

from memfs import files
from memfs.core.errors import UNREADABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

POINTER = "serving"
ROWS = "rows.json"
_LONGEST = 4096  # bytes

FOLDER = "v5/vectors"  # the number changes with the file formats
VECTORS, OWNERS, DOCUMENTS = "vectors.i8", "owners.u32", "documents.u32"
# The columns: its first row, its session's group, its duplicate hash (`doc_json`), seconds since
# 1970, weight in percent (0: deleted), the documents of its group before and after it.
FIRST, GROUP, SAID, AT, WEIGHT, BEFORE, AFTER = range(7)
COLUMNS = 7
LARGEST = 127  # the largest entry of a row


def delete_documents(folder: str, numbers: "Iterable[int]") -> None:
    """Mark documents as deleted, for good, in every model's vectors of an index."""
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


class Extent:
    """How much of a model's files counts. `documents` is one past the last; `source` its folder."""

    __slots__ = ("documents", "model", "rows", "source", "tokens")

    def __init__(
        self, model: str, rows: int = 0, tokens: int = 0, documents: int = 0, source: str = ""
    ) -> None:
        self.model = model
        self.rows = rows
        self.tokens = tokens
        self.documents = documents
        self.source = source

    def to_json(self) -> str:
        return json.dumps({name: getattr(self, name) for name in self.__slots__})


def path(index: str, model: str) -> str:
    """Return the folder of a model's vectors in an index."""
    return f"{index}/{FOLDER}/{model}"


def load_extent(index: str, model: str) -> Extent:
    """Return the extent of a model's vectors; an empty one if the file is missing or damaged."""
    try:
        data = json.loads(
            files.read(f"{path(index, model)}/{ROWS}", cap=_LONGEST) or "", strict=False
        )
        found = Extent(**data) if isinstance(data, dict) else Extent("")
    except (OSError, *UNREADABLE):
        return Extent(model)
    counts = (found.rows, found.tokens, found.documents)
    plain = all(type(each) is int and each >= 0 for each in counts) and type(found.source) is str
    return found if plain and found.model == model else Extent(model)


def load_active_extent(index: str) -> "Extent | None":
    """Return the extent of the vectors that are searched, None if there are none yet."""
    try:
        name = files.read(f"{index}/{FOLDER}/{POINTER}", cap=_LONGEST)
    except OSError:
        return None
    if not name or name != os.path.basename(name) or name.startswith("."):
        return None
    found = load_extent(index, name)
    return found if found.documents else None
