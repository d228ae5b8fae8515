"""Temporary files of runs that were killed, in stores and beside the settings of assistants."""

from __future__ import annotations

import os
import re

from memfs import files, hosts
from memfs.files import trees
from memfs.hosts import settings
from memfs.hosts.marked_section import TARGETS
from memfs.ops.doctor.finding import Finding
from memfs.store import host_sessions
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

_NUMBERED = re.compile(r"\..+\.(\d{1,9})\.tmp", re.DOTALL)


def finding(path: str) -> Finding:
    """Return the finding of `memfs doctor` for a temporary file."""
    return Finding(
        "warning",
        f"{path} was left by a run that was killed",
        "memfs doctor --fix puts it into local/backup/",
    )


def of_store(store: Store) -> list[str]:
    """List the stale temporary files of a store, also in its local folder elsewhere."""
    tops = [store.root] if os.path.dirname(store.local) == store.root else [store.root, store.local]
    found = [each.path for top in tops for each in trees.walk(top, top_too=False)]
    return sorted(path for path in found if _is_temp(os.path.basename(path)) and _is_stale(path))


def of_settings(place: Place, home: str) -> list[str]:
    """List the stale ones beside the files that `memfs install` and `memfs sync` write."""
    top = place.project.top if place.project else None
    paths = [path for name in hosts.NAMES for path in settings.paths(hosts.get(name), home, top)]
    paths += [os.path.realpath(f"{top}/{each.path}") for each in TARGETS.values()] if top else []
    found = set()
    for path in paths:
        folder, base = os.path.split(path)
        if not os.path.isdir(folder):
            continue
        for entry in os.listdir(folder):
            each = f"{folder}/{entry}"
            if entry.startswith(f".{base}.") and names_process(entry) and _is_stale(each):
                found.add(each)
    return sorted(found)


def names_process(name: str) -> bool:
    """Return whether a temporary file names its process: its writer held no lock."""
    return _NUMBERED.fullmatch(name) is not None


def _is_temp(name: str) -> bool:
    return name.startswith(".") and name.endswith(".tmp")


def _is_stale(path: str) -> bool:
    """Return whether a temporary file is a regular one whose writer, if named, is gone."""
    found = _NUMBERED.fullmatch(os.path.basename(path))
    ended = found is None or not host_sessions.alive(int(found[1]))
    return ended and files.is_file(os.path.realpath(path))
