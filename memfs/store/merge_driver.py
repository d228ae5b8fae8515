"""The merge driver of blocks in a clone: git's command for it, and the files that have it."""

from __future__ import annotations

from memfs.store import git

_DRIVER = "merge.memfs.driver"


def get_driver(folder: str) -> str:
    """Return the command that merges blocks in the repository of `folder`, "" if none is set."""
    return (git.run(folder, "config", "--local", "--get", _DRIVER) or "").rstrip("\n")


def set_driver(folder: str, command: str) -> bool:
    """Register the command that merges blocks in this clone; tell whether that was done.

    A clone whose configuration may be another's is left alone: memfs serves it without.
    """
    if git.top_level(folder) is None or get_driver(folder) == command or git.foreign_part(folder):
        return False
    # The command alone: a driver that has a name and no command makes every merge fail.
    return git.run(folder, "config", "--local", _DRIVER, command) is not None


def get_merge_driver(folder: str, name: str) -> str:
    """Return the merge driver that the attributes name for a path below `folder`."""
    return git.attributes(folder, [name], "merge").get(name, {}).get("merge", "")
