"""Whose vectors are searched. Those of each model lie in a folder of its name; numpy is not needed.

`vectors/serving` names the model that is searched. Another one is made beside it, and takes its
place when it has all documents: one rename, so that a search sees the old or the new.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass

from memfs.search import catalog
from memfs.search.lexical import FOLDER as TEXT
from memfs.search.rows import FOLDER

GRAPH = "graph.json"  # in the folder of a model's vectors: says what is known of their graph
_POINTER = "serving"
_ROWS = "rows.json"
_LONGEST = 4096  # bytes


@dataclass
class Extent:
    """How much of a model's files counts. `documents` is one past the last; `source` its folder."""

    model: str
    rows: int = 0
    tokens: int = 0
    documents: int = 0
    source: str = ""


def path(index: str, model: str) -> str:
    """Return the folder of a model's vectors in an index."""
    return f"{index}/{FOLDER}/{model}"


def extent(index: str, model: str) -> Extent:
    """Return how much there is of a model's vectors: nothing if the file is lost or damaged."""
    try:
        with open(f"{path(index, model)}/{_ROWS}", encoding="utf-8") as handle:
            found = Extent(**json.load(handle))
    except (OSError, ValueError, TypeError):
        return Extent(model)
    counts = (found.rows, found.tokens, found.documents)
    plain = all(type(each) is int and each >= 0 for each in counts) and type(found.source) is str
    return found if plain and found.model == model else Extent(model)


def served(index: str) -> Extent | None:
    """Return the vectors that are searched, None if there are none yet."""
    try:
        with open(f"{index}/{FOLDER}/{_POINTER}", encoding="utf-8") as handle:
            name = handle.read(_LONGEST)
    except (OSError, ValueError):
        return None
    if not name or name != os.path.basename(name) or name.startswith("."):
        return None
    found = extent(index, name)
    return found if found.documents else None


def serve(index: str, model: str) -> None:
    """Let a model's vectors be searched from now on, and remove all others.

    Who has the others open keeps what is mapped.
    """
    folder = f"{index}/{FOLDER}"
    now = served(index)
    if now is None or now.model != model:
        os.makedirs(folder, 0o700, exist_ok=True)
        temporary = f"{folder}/{_POINTER}.tmp"
        with open(temporary, "w", encoding="utf-8") as handle:
            handle.write(model)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, f"{folder}/{_POINTER}")
    keep_only(index, model)


def keep_only(index: str, *models: str) -> None:
    """Remove the vectors of all other models."""
    folder = f"{index}/{FOLDER}"
    with suppress(FileNotFoundError):
        for name in set(os.listdir(folder)) - {_POINTER, *models}:
            if os.path.isdir(f"{folder}/{name}"):
                shutil.rmtree(f"{folder}/{name}", ignore_errors=True)
            else:
                with suppress(OSError):
                    os.remove(f"{folder}/{name}")


def drop(index: str) -> None:
    """Remove all vectors."""
    with suppress(FileNotFoundError):
        os.remove(f"{index}/{FOLDER}/{_POINTER}")
    shutil.rmtree(f"{index}/{FOLDER}", ignore_errors=True)


def size(index: str) -> int:
    """Return how many bytes all vectors take."""
    total = 0
    for folder, _, names in os.walk(f"{index}/{FOLDER}"):
        for name in names:
            with suppress(FileNotFoundError):  # replaced meanwhile
                total += os.path.getsize(f"{folder}/{name}")
    return total


def published(index: str, model: str) -> tuple[object, ...]:
    """Return what an index and a model's vectors look like: others when more was published."""
    vectors = f"{index}/{FOLDER}"
    paths = (f"{index}/{TEXT}/meta.json", f"{vectors}/{_POINTER}", f"{vectors}/{model}/{_ROWS}")
    return tuple(catalog.sign(path) for path in paths)


def graphed(index: str, model: str) -> object:
    """Return what the graph of a model's vectors looks like: another one when it was made anew."""
    return catalog.sign(f"{path(index, model)}/{GRAPH}")
