"""An empty project to measure in: a store in a folder that looks like a repository."""

import os

from memfs.ops import trust
from memfs.store import local_folder, store_paths
from memfs.store.blocks import Place


def make(path: str) -> Place:
    """Make a project in `path` and return its place, without the user's tier."""
    root = f"{path}/{store_paths.NAME}"
    os.makedirs(root)
    os.mkdir(f"{path}/.git")
    with open(f"{root}/{store_paths.CONFIG}", "w", encoding="utf-8") as handle:
        handle.write("memfs: 1\n")
    return Place(store_paths.find(path), None)


def open_own(path: str) -> Place:
    """Return the place of a project that was made for a measurement, by whichever user."""
    place = Place(store_paths.find(path), None)
    for name in local_folder.find_unused(place.home):
        local_folder.adopt_folder(place.home, name)
        place = Place(store_paths.find(path), None)
    return place


def trust_own(path: str) -> None:
    """Have the current user trust a project that was made for a measurement."""
    trust.accept(open_own(path))
