"""Links in git's own folder, which git follows where it writes."""

from __future__ import annotations

import os

_TREES = ("logs", "refs", "reftable", "worktrees")  # git writes files at any depth of these


def find_link(folder: str) -> str:
    """Return which part of git's folder, of those git writes through, is a link; "" for none.

    Hooks may be linked: none is run. A file of objects is replaced, never written again.
    """
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        try:
            with os.scandir(path) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            return f"{path} cannot be read: {error.strerror}"
        for entry in entries:
            if entry.is_symlink() and not (path == folder and entry.name == "hooks"):
                return f"{entry.path} is a link"
            descends = path != folder or entry.name in (*_TREES, "objects")
            if descends and path != f"{folder}/objects" and entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
    return ""
