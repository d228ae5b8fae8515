"""An empty project to measure in: a store in a folder that looks like a repository."""

from __future__ import annotations

import os

from memfs.store import store_paths
from memfs.store.blocks import Place


def make(path: str) -> Place:
    """Make a project in `path` and return its place, without the user's tier."""
    root = f"{path}/{store_paths.NAME}"
    os.makedirs(root)
    os.mkdir(f"{path}/.git")
    with open(f"{root}/{store_paths.CONFIG}", "w", encoding="utf-8") as handle:
        handle.write("memfs: 1\n")
    return Place(store_paths.find(path), None)
