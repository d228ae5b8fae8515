"""Where the user's assistants keep their files, as variables named it when memfs was installed.

The service serves all projects, and takes no such variable from the one whose session started it.
"""

from __future__ import annotations

import json
import os

from memfs import files
from memfs.files import account, atomic
from memfs.store.store_paths import Store

VARIABLES = (
    *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME"),
    *(
        "HF_HOME",
        "HF_HUB_CACHE",
        "OPENCODE_DB",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
    ),
)


def save_folders(user: Store) -> None:
    """Save what the variables of this process name, but for what a project may have set."""
    found = {name: path for name in VARIABLES if (path := account.find_named_folder(name))}
    if found != load_folders(user):
        atomic.write(_get_path(user), json.dumps(found), private=True)


def load_folders(user: Store) -> dict[str, str]:
    """Load the saved variables."""
    try:
        found = json.loads(files.read(_get_path(user)) or "{}")
    except ValueError:
        return {}
    known = found.items() if isinstance(found, dict) else ()
    return {name: path for name, path in known if name in VARIABLES and isinstance(path, str)}


def use_folders(user: Store) -> None:
    """Set the variables of this process to what was saved."""
    for name in VARIABLES:
        os.environ.pop(name, None)
    os.environ.update(load_folders(user))


def _get_path(user: Store) -> str:
    return f"{user.local}/host_folders.json"
