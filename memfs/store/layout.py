"""Where things are: stores, tiers, and the folders inside a store. Hot path."""

import os

from memfs.core import label as labels
from memfs.core.errors import StoreError

NAME = ".agent-memory"
CONFIG = "config.yaml"


class Store:
    """One `.agent-memory/` with our `config.yaml`.

    `root` is that folder, `top` the folder it stands in, `local` its never committed part (that
    of the main worktree, for a linked one), `tree` the linked worktree's name or "".
    """

    __slots__ = ("local", "root", "tier", "top", "tree")

    def __init__(self, root: str, tier: str, local: str = "", tree: str = "") -> None:
        self.root = root
        self.top = os.path.dirname(root)
        self.tier = tier
        self.local = local or f"{root}/local"
        self.tree = tree

    @property
    def journal(self) -> str:
        return f"{self.local}/journal.jsonl"

    @property
    def private(self) -> bool:
        return self.tier != labels.PROJECT

    def session(self, session: str) -> str:
        """Return the folder of one session's scratch."""
        return f"{self.local}/sessions/{file_name(session)}"


def user_root() -> str:
    """Return the user tier's folder: `$MEMFS_HOME`, else `~/.agent-memory`."""
    return os.environ.get("MEMFS_HOME") or os.path.join(os.path.expanduser("~"), NAME)


def user_store() -> Store | None:
    """Return the user tier, or None if it was not made yet."""
    root = user_root()
    return Store(root, labels.USER) if _is_file(f"{root}/{CONFIG}") else None


def find(start: str) -> Store | None:
    """Return the nearest project store at or above `start`, not past the git top level."""
    folder = os.path.abspath(start)
    home = os.path.expanduser("~")
    user = user_root()
    while True:
        root = f"{folder}/{NAME}" if folder != "/" else f"/{NAME}"
        git = f"{folder}/.git"
        if root != user and _is_file(f"{root}/{CONFIG}"):
            return _with_local(root, folder)
        parent = os.path.dirname(folder)
        if folder in (parent, home) or os.path.exists(git):
            return None
        folder = parent


def require(start: str) -> Store:
    """Return the project store of `start`, else the user tier; raises `StoreError` without."""
    found = find(start) or user_store()
    if found is None:
        raise StoreError(
            f"there is no memfs store at or above {start}", "make one with: memfs init"
        )
    return found


def block_folder(store: Store, tier: str, session: str = "") -> str:
    """Return the folder with the blocks of a tier."""
    return store.session(session) if tier == labels.SESSION else f"{store.root}/blocks"


def file_name(name: str) -> str:
    """Turn an outside name (a session id) into a safe file name; unsafe ones are hex-coded."""
    allowed = name.isascii() and name.replace("-", "").replace("_", "").replace(".", "").isalnum()
    if allowed and name[0] not in ".-" and len(name) <= 100:
        return name
    return "x" + name.encode("utf-8", "surrogatepass").hex()[:120]


def git_folder(top: str) -> tuple[str, str]:
    """Return (the main worktree's folder, the linked worktree's name or "") for a git top level."""
    git = f"{top}/.git"
    if not os.path.isfile(git):
        return top, ""
    with open(git, encoding="utf-8", errors="surrogateescape") as handle:
        line = handle.read(4096).strip()
    pointed = os.path.normpath(os.path.join(top, line.removeprefix("gitdir:").strip()))
    main, middle, name = pointed.replace("\\", "/").rpartition("/worktrees/")
    if middle and main.endswith("/.git"):
        return main[: -len("/.git")], name
    return top, ""


def _is_file(path: str) -> bool:
    """Like `os.path.isfile`, but a folder we may not look into is an error, not "no store"."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except PermissionError as error:
        raise StoreError(
            f"cannot read the store {os.path.dirname(path)}: permission denied"
        ) from error
    return mode & 0o170000 == 0o100000


def _with_local(root: str, folder: str) -> Store:
    top = folder
    while not os.path.exists(f"{top}/.git"):
        parent = os.path.dirname(top)
        if parent == top:
            return Store(root, labels.PROJECT)
        top = parent
    main, tree = git_folder(top)
    if not tree or not os.path.isdir(main):
        return Store(root, labels.PROJECT)
    inside = os.path.relpath(root, top)
    return Store(root, labels.PROJECT, os.path.join(main, inside, "local"), tree)
