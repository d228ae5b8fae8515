"""Where things are: stores, tiers, and the folders inside a store. Hot path."""

import os
import time

from memfs import files
from memfs.core import label as labels
from memfs.core.errors import StoreError

NAME = ".agent-memory"
CONFIG = "config.yaml"
HOLDING = "MEMFS_TRUST_PULLED"  # a variable that may want changes of others held back
_user_roots: dict[str, tuple[str, float]] = {}  # real paths by what names them, until when


class Store:
    """One `.agent-memory/` with our `config.yaml`.

    `root` is that folder, `top` the folder it stands in, `local` its never committed part (that
    of the main worktree, for a linked one), `tree` the linked worktree's name or "". `as_is`:
    nothing is quarantined, for review and repair.
    """

    __slots__ = ("as_is", "local", "root", "tier", "top", "tree")

    def __init__(
        self, root: str, tier: str, local: str = "", tree: str = "", *, as_is: bool = False
    ) -> None:
        self.as_is = as_is
        self.root = root
        self.top = os.path.dirname(root)
        self.tier = tier
        self.local = local or f"{root}/local"
        self.tree = tree

    @property
    def journal(self) -> str:
        return f"{self.local}/journal.jsonl"

    @property
    def index(self) -> str:
        """The search index: each linked worktree has its own, as it has its own files."""
        return f"{self.local}/index" + self._suffix

    @property
    def sources(self) -> str:
        """The folder with an index for each data source, of each linked worktree its own."""
        return f"{self.local}/sources" + self._suffix

    @property
    def _suffix(self) -> str:
        return f"-{file_name(self.tree)}" if self.tree else ""

    @property
    def private(self) -> bool:
        return self.tier != labels.PROJECT

    def session(self, session: str) -> str:
        """Return the folder of one session's scratch."""
        return f"{self.local}/sessions/{file_name(session)}"


def user_root() -> str:
    """Return the user tier's folder: `$MEMFS_HOME`, else `~/.agent-memory`.

    Whoever asks for it asks several times: what it is counts for a second. Raises `StoreError` for
    a variable that a project could have set: it must name a folder outside of every repository.
    """
    usual = os.path.join(os.path.expanduser("~"), NAME)
    named = os.environ.get("MEMFS_HOME") or usual
    found, until = _user_roots.get(named, ("", 0.0))
    now = time.monotonic()
    if now >= until:
        found = os.path.realpath(named)
        _check_user_root(named, found, usual=named == usual)
        if os.path.isabs(named):
            _user_roots[named] = found, now + 1.0
    return found


def _check_user_root(named: str, root: str, *, usual: bool) -> None:
    """Raise `StoreError` for a user's folder that a project can have set.

    A relative one is in whatever project is worked in, one in a repository came with it. A home
    folder may be a repository itself (of settings, say), and not be in one.
    """
    what = f"{'HOME' if usual else 'MEMFS_HOME'} makes {named} your own store, and it is"
    hint = "a project could have set it: set it to a folder of yours, outside of every repository"
    if not os.path.isabs(named):
        raise StoreError(f"{what} not an absolute path", hint)
    folder = os.path.dirname(os.path.dirname(root)) if usual else root
    while not os.path.lexists(f"{folder}/.git"):
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above
    raise StoreError(f"{what} inside the repository {folder}", hint)


def model_folder() -> str:
    """Return the working folder of commands that memfs runs as a model."""
    return f"{user_root()}/local/model"


def user_store() -> Store | None:
    """Return the user tier, or None if it was not made yet."""
    root = user_root()
    return Store(root, labels.USER) if is_store(root) else None


def find(start: str) -> Store | None:
    """Return the nearest project store at or above `start`, not past the git top level.

    One that this user trusts is known by its token: what came last may have taken or spoilt its
    `config.yaml`. Raises `StoreError` for another one without it, and for a link to a store.
    """
    folder = os.path.realpath(start)
    home = ""
    user = user_root()
    if files.is_below(user, folder):
        _check_own(user, folder)
    while True:
        root = f"{folder}/{NAME}" if folder != "/" else f"/{NAME}"
        if root == user:
            _check_account(folder)
        else:
            if is_store(root):
                _check_outside(user, folder)
                return _make_store(root, folder)
            if os.path.islink(root) and is_store(os.path.realpath(root)):
                raise StoreError(
                    f"{root} is a link, and memfs follows none: it could serve another project's",
                    "work in the folder that it leads to, or make a store here: memfs init",
                )
            if files.is_folder(root) and is_trusted(store := _make_store(root, folder)):
                _check_outside(user, folder)
                return store
            if files.is_file(f"{root}/local/journal.jsonl"):
                raise StoreError(
                    f"{root}/{CONFIG} is missing or damaged, and the store with it unusable",
                    "memfs init writes it anew if it is gone; it needs the line: memfs: 1",
                )
        parent = os.path.dirname(folder)
        home = home or os.path.realpath(os.path.expanduser("~"))
        if folder in (parent, home) or os.path.exists(f"{folder}/.git"):
            return None
        folder = parent


def _check_own(user: str, folder: str) -> None:
    """Refuse a store of the user's in the folder that is worked in, but above their home."""
    from memfs.files import account

    if account.is_of_project(user, folder):
        _check_outside(user, folder)


def _check_account(folder: str) -> None:
    """Refuse a home that another than the system's is, where it is worked in: a project set it."""
    from memfs.files import account

    own = account.home()
    if own and own != folder:
        raise StoreError(
            f"your own store would be {folder}/{NAME}, and you work in that folder",
            f"a project could have set HOME or MEMFS_HOME: your home is {own}",
        )


def _check_outside(user: str, project: str) -> None:
    """Refuse a store of the user's that is inside of the project: who set it is the project."""
    if files.is_below(user, project):
        raise StoreError(
            f"your own store would be {user}, inside of the project {project}",
            "a project could have set HOME or MEMFS_HOME: set them to folders of yours",
        )


def is_store(root: str) -> bool:
    """Tell whether a folder is a store of ours: its `config.yaml` names `memfs:`.

    A folder we may not look into is an error, not "no store".
    """
    try:
        text = files.read(f"{root}/{CONFIG}", cap=4096)
    except PermissionError as error:
        raise StoreError(f"cannot read the store {root}: permission denied") from error
    return text is not None and ("\n" + text.lstrip("\ufeff")).find("\nmemfs:") >= 0


def trust_folder(store: Store) -> str:
    """Return the user tier's folder of data on a project's store, by its real path.

    Linked worktrees share the main one's.
    """
    drive, path = os.path.splitdrive(os.path.realpath(os.path.dirname(store.local)))
    return f"{user_root()}/local/trusted/{drive.rstrip(':')}{path}"


def is_trusted(store: Store) -> bool:
    """Tell whether this user trusts a project's store: both sides hold the same token.

    Another repository that comes to stand at the same path does not know it.
    """
    token = files.read(f"{trust_folder(store)}/token", cap=100)
    return bool(token) and token == files.read(f"{store.local}/token", cap=100)


def is_checked(store: Store) -> bool:
    """Tell whether git's index is unchanged since nothing of `local/` was in it."""
    sign = index_sign(os.path.dirname(store.local))
    return files.read(f"{trust_folder(store)}/checked") == sign


def without_quarantine(store: Store) -> Store:
    """Return the same store without quarantine."""
    return Store(store.root, store.tier, store.local, store.tree, as_is=True)


def may_quarantine(store: Store) -> bool:
    """Tell cheaply whether changes of others may be quarantined (see `quarantine`)."""
    if store.private or store.as_is:
        return False
    if os.environ.get(HOLDING):
        return True
    configs = (f"{store.root}/{CONFIG}", f"{user_root()}/{CONFIG}")
    return any("hold" in (files.read(path) or "") for path in configs) or held_before(store)


def held_before(store: Store) -> bool:
    """Tell whether the last review quarantined changes: later changes cannot lift that."""
    return files.is_file(f"{trust_folder(store)}/holding")


def note_quarantine(store: Store, *, holding: bool) -> None:
    """Save whether changes of others are quarantined."""
    path = f"{trust_folder(store)}/holding"
    if holding:
        files.make_empty(path)
    else:
        files.remove(path)


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
    """Turn an outside name (a session id) into a safe file name: hex or, where long, a hash."""
    allowed = name.isascii() and name.replace("-", "").replace("_", "").replace(".", "").isalnum()
    if allowed and name[0] not in ".-" and len(name) <= 100:
        return name
    data = name.encode("utf-8", "surrogatepass")
    if len(data) > 60:
        from hashlib import sha256

        return "x" + sha256(data).hexdigest()
    return "x" + data.hex()


def git_folder(top: str) -> tuple[str, str]:
    """Return (the main worktree's folder, the linked worktree's name or "") for a git top level.

    Only what the main worktree knows as its own is a linked one: whoever wrote `.git` says less.
    """
    git = f"{top}/.git"
    pointed = _read_git_file(top)
    main, middle, name = pointed.replace("\\", "/").rpartition("/worktrees/")
    if not middle or not main.endswith("/.git"):
        return top, ""
    back = (files.read(f"{pointed}/gitdir", cap=4096) or "").strip()
    if "\0" in back or os.path.realpath(os.path.join(pointed, back)) != os.path.realpath(git):
        return top, ""
    return os.path.realpath(main[: -len("/.git")]), name


def index_sign(root: str) -> str:
    """Return a cheap signature of git's state for a store's folder, "" outside git.

    It has a part for each repository that the folder is in.
    """
    return " ".join(filter(None, map(index_sign_of, repositories(root))))


def repositories(root: str) -> list[str]:
    """List the working trees that a store's folder is in, the innermost first: its own.

    git writes into a folder that is a repository of its own, too, if one around it has files there.
    """
    found = []
    folder, below = root, ""
    while folder != below:
        if os.path.lexists(f"{folder}/.git"):
            found.append(folder)
        folder, below = os.path.dirname(folder), folder
    return found


def index_sign_of(top: str) -> str:
    """Return the signature of one working tree's git, "" if nothing was ever added.

    It covers the index, the log of HEAD, and the last fetch.
    """
    folder = git_dir(top)
    parts = []
    for name in ("index", "logs/HEAD", "FETCH_HEAD") if folder else ():
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


def _read_git_file(top: str) -> str:
    """Return the folder named by the `.git` file of a worktree or submodule, "" for none."""
    line = (files.read(f"{top}/.git", cap=4096) or "").strip()
    if not line or "\0" in line:
        return ""
    return os.path.realpath(os.path.join(top, line.removeprefix("gitdir:").strip()))


def root_of_tree(store: Store, tree: str) -> str | None:
    """Return the store's folder in another worktree of its repository, None if that is gone."""
    main = os.path.dirname(store.local)
    if tree == store.tree or not tree:
        return store.root if tree == store.tree else main
    top = os.path.dirname(main)
    while not files.is_folder(f"{top}/.git"):
        if os.path.dirname(top) == top:
            return None
        top = os.path.dirname(top)
    plain = tree == os.path.basename(tree) and tree not in (os.curdir, os.pardir)
    pointer = files.read(f"{top}/.git/worktrees/{tree}/gitdir") if plain else None
    other = os.path.dirname((pointer or "").strip())
    if "\0" in other or not os.path.isabs(other) or git_folder(other) != (top, tree):
        return None  # it is gone, or it never was a worktree of this repository
    return os.path.join(other, os.path.relpath(main, top))


def _make_store(root: str, folder: str) -> Store:
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
