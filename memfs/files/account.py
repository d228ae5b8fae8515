"""Folders named by environment variables, which a project may have set. Hot path."""

import os

from memfs import files


def home() -> str:
    """Return the home folder of this account, by the system's user database; "" if unknown."""
    try:
        import pwd

        return os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)
    except (ImportError, KeyError, OSError):  # Windows, or an account that only a container has
        return ""


def is_of_project(path: str, folder: str) -> bool:
    """Tell whether a path that a variable names is relative, or in the working folder.

    Whoever made that folder may have set the variable. Nobody made the home folder or one above.
    """
    if not os.path.isabs(path):
        return True
    inside = os.path.realpath(folder)
    if not files.is_below(os.path.realpath(path), inside):
        return False
    own = home()
    return bool(own) and not files.is_below(own, inside)


def find_named_folder(variable: str) -> str:
    """Return the folder that a variable names; "" for none, or if a project may have set it."""
    found = os.environ.get(variable) or ""
    return found if found and not is_of_project(found, os.getcwd()) else ""
