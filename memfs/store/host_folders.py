"""Where the user's assistants keep their files, as variables named it at the installation."""

import json
import os
from collections.abc import Collection

from memfs import files
from memfs.files import account, atomic
from memfs.store.store_paths import Store


def save_folders(user: Store, variables: Collection[str]) -> None:
    """Save what variables of this process name, but for what a project may have set."""
    found = {name: path for name in variables if (path := account.find_named_folder(name))}
    if found != load_folders(user, variables):
        atomic.write(_get_path(user), json.dumps(found), private=True)


def load_folders(user: Store, variables: Collection[str]) -> dict[str, str]:
    """Load what was saved of variables."""
    known = files.read_record(_get_path(user)).items()
    return {name: path for name, path in known if name in variables and isinstance(path, str)}


def use_folders(user: Store, variables: Collection[str]) -> None:
    """Set variables of this process to what was saved."""
    for name in variables:
        os.environ.pop(name, None)
    os.environ.update(load_folders(user, variables))


def _get_path(user: Store) -> str:
    return f"{user.local}/host_folders.json"
