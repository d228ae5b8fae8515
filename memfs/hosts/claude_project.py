"""The folder by which Claude Code knows a project in its account's file (`~/.claude.json`)."""

from __future__ import annotations

import os

from memfs.files import outside

_CAP = 4096  # bytes of a file of git's that names a folder


def find_key(folder: str) -> str:
    """Return the key under `projects` for what runs in a folder, as the program computes it.

    It is git's top level, of a linked worktree that of the main one, and the repository itself
    where that is bare. `claude mcp add --scope local` writes under it (tried with 2.1.328).
    """
    top = folder = os.path.realpath(folder)
    while not os.path.lexists(f"{top}/.git"):
        if os.path.dirname(top) == top:
            return folder
        top = os.path.dirname(top)
    pointed = _read(f"{top}/.git").removeprefix("gitdir:").strip()
    git = os.path.join(top, pointed) if pointed else ""
    common = _read(f"{git}/commondir") if git else ""
    if not common:
        return top
    common = os.path.realpath(os.path.join(git, common))
    return os.path.dirname(common) if os.path.basename(common) == ".git" else common


def _read(path: str) -> str:
    """Return the text of a file without its line ends; "" for what is none, or is no text."""
    return (outside.read(path, _CAP) or "").strip() if os.path.isfile(path) else ""
