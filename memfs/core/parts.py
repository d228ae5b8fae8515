"""The parts of memfs that can be left out: each is a folder, found by its name.

A part's `seam` is all that the rest of memfs knows of it.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from memfs.core.errors import MemfsError

SEAMS = {"team": "memfs.team.seam", "importers": "memfs.importers.seam"}


def find(name: str) -> Any:
    """Return the seam of a part, None where the part is not installed."""
    path = SEAMS[name]
    return import_module(path) if find_spec(path.rpartition(".")[0]) else None


def load(name: str) -> Any:
    """Return the seam of a part. Raises `MemfsError` where the part is not installed."""
    found = find(name)
    if found is None:
        raise MemfsError(f"this memfs has no {name}", "pip install agent-memfs brings all of it")
    return found
