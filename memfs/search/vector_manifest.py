"""The model whose vectors are searched, and how many rows count. Hot path: numpy is not needed.

Each model's vectors are in a folder of its name; `vectors/serving` holds the active model's name.
"""

import os

from memfs import files
from memfs.core import fastjson
from memfs.search.vector_layout import FOLDER

POINTER = "serving"
ROWS = "rows.json"
_LONGEST = 4096  # bytes


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
        """Return the content of the manifest file."""
        return fastjson.dumps({name: getattr(self, name) for name in self.__slots__})


def path(index: str, model: str) -> str:
    """Return the folder of a model's vectors in an index."""
    return f"{index}/{FOLDER}/{model}"


def load_extent(index: str, model: str) -> Extent:
    """Return the extent of a model's vectors; an empty one if the file is missing or damaged."""
    try:
        data = fastjson.loads(files.read(f"{path(index, model)}/{ROWS}", cap=_LONGEST) or "")
        found = Extent(**data) if isinstance(data, dict) else Extent("")
    except (OSError, ValueError, TypeError):
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
