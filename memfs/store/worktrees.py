"""Git's working trees around a store, and what tells that git changed. Hot path."""

import os

from memfs import files


def git_folder(top: str) -> tuple[str, str]:
    """Return (the main worktree's folder, the linked worktree's name or "") for a git top level.

    Of a bare repository, which has no main worktree, it is the repository's own folder. Only what
    the repository knows as its own is a linked one: whoever wrote `.git` says less.
    """
    git = f"{top}/.git"
    pointed = _read_git_file(top)
    main, middle, name = pointed.replace("\\", "/").rpartition("/worktrees/")
    if not middle:
        return top, ""
    back = (files.read(f"{pointed}/gitdir", cap=4096) or "").strip()
    if "\0" in back or os.path.realpath(os.path.join(pointed, back)) != os.path.realpath(git):
        return top, ""
    return os.path.realpath(main.removesuffix("/.git")), name


def index_sign(root: str) -> str:
    """Return a cheap signature of git's state for a store's folder, "" outside git."""
    return " ".join(filter(None, map(index_sign_of, repositories(root))))


def repositories(root: str) -> list[str]:
    """List the working trees that a store's folder is in, the innermost first: its own."""
    found = []
    folder, below = root, ""
    while folder != below:
        if os.path.lexists(f"{folder}/.git"):
            found.append(folder)
        folder, below = os.path.dirname(folder), folder
    return found


def index_sign_of(top: str) -> str:
    """Return the signature of one working tree's git, "" if nothing was ever added."""
    return _sign_files(git_dir(top), ("index", "logs/HEAD", "FETCH_HEAD"))


def sign_head(top: str) -> str:
    """Return what changes with each commit and checkout, "" where git keeps no log of them."""
    return _sign_files(git_dir(top), ("logs/HEAD",))


def _sign_files(folder: str, names: tuple[str, ...]) -> str:
    parts = []
    for name in names if folder else ():
        try:
            found = os.stat(f"{folder}/{name}")
        except OSError:
            continue
        parts.append(f"{found.st_mtime_ns} {found.st_size} {found.st_ino}")
    return " ".join(parts)


def git_dir(root: str) -> str:
    """Return the folder in which git keeps what is of a store's working tree, "" outside git."""
    top = root  # a store can be a repository of its own
    while not os.path.lexists(f"{top}/.git"):
        if os.path.dirname(top) == top:
            return ""
        top = os.path.dirname(top)
    return _read_git_file(top) or f"{top}/.git"


def list_reference_folders(root: str) -> tuple[str, ...]:
    """List the folders in which git notes a new commit of a store's working tree."""
    folder = git_dir(root)
    if not folder:
        return ()
    named = (files.read(f"{folder}/commondir", cap=4096) or "").strip()
    shared = folder if "\0" in named else os.path.realpath(os.path.join(folder, named))
    found = (f"{folder}/logs", f"{folder}/reftable", f"{shared}/refs/heads", f"{shared}/reftable")
    return tuple(path for path in dict.fromkeys(found) if os.path.isdir(path))


def _read_git_file(top: str) -> str:
    """Return the folder named by the `.git` file of a worktree or submodule, "" for none."""
    line = (files.read(f"{top}/.git", cap=4096) or "").strip()
    if not line or "\0" in line:
        return ""
    return os.path.realpath(os.path.join(top, line.removeprefix("gitdir:").strip()))
