"""Folders and programs that environment variables name, which a project may have set. Hot path.

A path is not believed that is in a project, or shares a folder with the one that is worked in.
"""

import os

_MARKS = (".git", ".agent-memory", ".hg", ".jj", ".svn")  # of a folder that is a project
_SYSTEM = ("/nix", "/opt", "/usr", "/usr/local", "/var")
_DRAFTS = ("TMPDIR", "TEMP", "TMP")
_clean_paths: dict[tuple[str, str, str], str] = {}  # by PATH and folders
_EVERYBODY = 0o1002  # of a mode: all may write, and none remove what is another's


def home() -> str:
    """Return the home folder of this account, by the system's user database; "" if unknown."""
    try:
        import pwd

        return os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)
    except (ImportError, KeyError, OSError):  # Windows, or an account that only a container has
        return ""


def is_of_project(path: str, folder: str) -> bool:
    """Tell whether a path that a variable names may have been set by a project."""
    if not os.path.isabs(path):
        return True
    real = os.path.realpath(path)
    is_beside = _is_beside(real, os.path.realpath(folder), _list_homes())
    return is_beside or bool(find_project(real))


def find_project(path: str, *, has_home: bool = True) -> str:
    """Return the nearest project at or above a real path, "" for none; a store is not its own.

    Without `has_home`, the folder that `HOME` names may be in one: a project can have set it.
    """
    start, passed = path, [path]
    while all(mark == start or not os.path.lexists(mark) for mark in _list_marks(path)):
        path = os.path.dirname(path)
        if path == passed[-1]:
            return ""
        passed.append(path)
    homes = _list_homes(has_home=has_home)  # not asked for at each prompt: it takes a while
    return "" if any(_is_shared(each, homes) for each in passed) else path


def _list_marks(folder: str) -> list[str]:
    return [os.path.join(folder, mark) for mark in _MARKS]


def find_named_folder(variable: str) -> str:
    """Return the folder that a variable names; "" for none, or if a project may have set it."""
    found = os.environ.get(variable) or ""
    return found if found and not is_of_project(found, os.getcwd()) else ""


def list_variables() -> dict[str, str]:
    """Return the environment without the paths that a project may have set."""
    folder = os.getcwd()
    return {name: path for name, path in os.environ.items() if not is_of_project(path, folder)}


def find_program(name: str, folder: str = "") -> str:
    """Return the absolute path of a program, "" for none, or if a project may have brought it."""
    from shutil import which  # heavy, and not needed where nothing is started

    found = which(name, path=clean_path(folder)) or ""
    return found if _drop_beside([os.path.dirname(found)], folder) else ""


def clean_path(folder: str = "") -> str:
    """Return `PATH` without what the project worked in, or that of `folder`, may have set."""
    known = os.environ.get("PATH", os.defpath), os.getcwd(), folder
    if known not in _clean_paths:
        parts = _drop_beside(known[0].split(os.pathsep), folder)
        _clean_paths[known] = os.pathsep.join(parts) or os.defpath
    return _clean_paths[known]


def clean_environment() -> None:
    """Take out of this process's environment where a project may have programs and drafts lie."""
    os.environ["PATH"] = clean_path()
    for name in _DRAFTS:
        if name in os.environ and is_of_project(os.environ[name], os.getcwd()):
            del os.environ[name]


def _drop_beside(paths: list[str], folder: str) -> list[str]:
    """Return the absolute paths that share no folder with what is worked in, or with `folder`."""
    worked = {os.path.realpath(each) for each in (os.getcwd(), folder or os.curdir)}
    homes = _list_homes()
    return [
        path
        for path in paths
        if os.path.isabs(path)
        and not any(_is_beside(os.path.realpath(path), each, homes) for each in worked)
    ]


def _is_beside(path: str, worked: str, homes: list[str]) -> bool:
    """Tell whether two real paths share a folder that not everything shares."""
    try:
        shared = os.path.commonpath((path, worked))
    except ValueError:  # two drives
        return False
    return not _is_shared(shared, homes)


def _list_homes(*, has_home: bool = True) -> list[str]:
    named = os.path.realpath(os.path.expanduser("~")) if has_home else ""
    return [each for each in (home(), named) if each]


def _is_shared(folder: str, homes: list[str]) -> bool:
    """Tell whether a folder is no project's: a home, above one, or the system's."""
    if folder in _SYSTEM or os.path.dirname(folder) == folder:
        return True
    if any(each == folder or each.startswith(folder + os.sep) for each in homes):
        return True
    try:
        return os.stat(folder).st_mode & _EVERYBODY == _EVERYBODY
    except OSError:
        return False
