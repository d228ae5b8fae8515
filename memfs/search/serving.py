"""Which model's vectors are searched (see `extents`): how another one takes its place.

It is made beside the one that is searched, and takes its place when it has all documents: one
rename, so that a search sees the old or the new. Numpy is not needed.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from memfs.search import catalog
from memfs.search.extents import POINTER, ROWS, path, served
from memfs.search.lexical import FOLDER as TEXT
from memfs.search.rows import FOLDER

GRAPH = "graph.json"  # in the folder of a model's vectors: says what is known of their graph


def serve(index: str, model: str) -> None:
    """Let a model's vectors be searched from now on, and remove all others.

    Who has the others open keeps what is mapped.
    """
    folder = f"{index}/{FOLDER}"
    now = served(index)
    if now is None or now.model != model:
        os.makedirs(folder, 0o700, exist_ok=True)
        temporary = f"{folder}/{POINTER}.tmp"
        with open(temporary, "w", encoding="utf-8") as handle:
            handle.write(model)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, f"{folder}/{POINTER}")
    keep_only(index, model)


def keep_only(index: str, *models: str) -> None:
    """Remove the vectors of all other models."""
    folder = f"{index}/{FOLDER}"
    with suppress(FileNotFoundError):
        for name in set(os.listdir(folder)) - {POINTER, *models}:
            if os.path.isdir(f"{folder}/{name}"):
                shutil.rmtree(f"{folder}/{name}", ignore_errors=True)
            else:
                with suppress(OSError):
                    os.remove(f"{folder}/{name}")


def drop(index: str) -> None:
    """Remove all vectors."""
    with suppress(FileNotFoundError):
        os.remove(f"{index}/{FOLDER}/{POINTER}")
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
    paths = (f"{index}/{TEXT}/meta.json", f"{vectors}/{POINTER}", f"{vectors}/{model}/{ROWS}")
    return tuple(catalog.sign(path) for path in paths)


def graphed(index: str, model: str) -> object:
    """Return what the graph of a model's vectors looks like: another one when it was made anew."""
    return catalog.sign(f"{path(index, model)}/{GRAPH}")
