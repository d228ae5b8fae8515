"""Where the user tier is. Hot path: the first thing that every hook asks."""

import os

NAME = ".agent-memory"


def user_root() -> str:
    """Return the user tier's folder: `$MEMFS_HOME`, else `~/.agent-memory`."""
    named = os.environ.get("MEMFS_HOME") or os.path.join(os.path.expanduser("~"), NAME)
    return os.path.realpath(named)
