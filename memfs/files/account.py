"""Which folders a person named, and which a project could have: by a variable. Hot path."""

import os


def home() -> str:
    """Return the home folder that the system has for this account, "" where it tells none."""
    try:
        import pwd

        return os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)
    except (ImportError, KeyError, OSError):  # Windows, or an account that only a container has
        return ""


def is_of_project(path: str, folder: str) -> bool:
    """Tell whether a path that a variable names is relative, or in the folder that is worked in.

    Whoever made that folder may have set the variable. Above one's own home nobody made it.
    """
    if not os.path.isabs(path):
        return True
    inside = os.path.realpath(folder)
    if not f"{os.path.realpath(path)}/".startswith(f"{inside.rstrip('/')}/"):
        return False
    own = home()
    return bool(own) and not f"{own}/".startswith(f"{inside.rstrip('/')}/")


def find_named_folder(variable: str) -> str:
    """Return the folder that a variable names, "" for none, or where a project could name it."""
    found = os.environ.get(variable) or ""
    return found if found and not is_of_project(found, os.getcwd()) else ""
