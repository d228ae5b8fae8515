"""Where things are: stores, tiers, and the folders inside a store. Hot path."""

import os
import time

from memfs import files
from memfs.core import label as labels
from memfs.core.errors import StoreError
from memfs.files import account
from memfs.store import worktrees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Decision = tuple[float, str | None, Mapping[str, str] | StoreError]

NAME = ".agent-memory"
CONFIG = "config.yaml"
DISMISSED = "dismissed.jsonl"  # in a local folder: what is not to be recalled (see `dismissals`)
LOCAL = "local"  # the part of a store that is never committed; of a second home: local-2
_OWN = "a folder that you own outside of every project; a project could have set the variable"
TOKEN = "token"  # noqa: S105 - a file of a local folder that memfs made
MADE = "local/made"  # in the user's store: a file for each token, with the folder that holds it
_DIGITS = 32  # of a token
HOLDING = "MEMFS_TRUST_PULLED"  # a variable that may want changes of others held back
UNDECIDED: "Decision" = (0.0, None, {})
_user_roots: dict[str, tuple[str, float]] = {}  # real paths by what names them, until when


class Store:
    """One `.agent-memory/` with our `config.yaml`.

    `root` is that folder, `top` the folder it stands in, `tree` the linked worktree's name or "".
    `main` is the same folder of the main worktree (`root` where there is one alone), and `local`
    the part in it that is never committed. `as_is`: nothing is quarantined, for review and repair.
    `decided` is whether it is trusted, None before that is asked. `decision` is what is read
    instead of quarantined files, with the time and git's state it counts for (see `quarantine`).
    """

    __slots__ = ("as_is", "decided", "decision", "local", "main", "root", "tier", "top", "tree")

    def __init__(
        self,
        root: str,
        tier: str,
        local: str = "",
        tree: str = "",
        *,
        main: str = "",
        as_is: bool = False,
    ) -> None:
        self.as_is = as_is
        self.decided: bool | None = None
        self.decision: Decision = UNDECIDED
        self.root = root
        self.main = main or root
        self.top = os.path.dirname(root)
        self.tier = tier
        self.local = local or f"{self.main}/{LOCAL}"
        self.tree = tree

    @property
    def tiers(self) -> tuple[str, ...]:
        """The tiers whose blocks are in the store: no other's are in its journal."""
        return (self.tier,) if self.private else (labels.SESSION, labels.PROJECT)

    @property
    def journal(self) -> str:
        return f"{self.local}/journal.jsonl"

    @property
    def handoffs(self) -> str:
        """The file with what the next session is told of the last ones (see `handoff`)."""
        return f"{self.local}/handoffs.json"

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

    @property
    def trusted(self) -> bool:
        """Whether this user trusts it; decided once, where it is first asked."""
        if self.decided is None:
            self.decided = self.private or is_trusted(self)
        return self.decided

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
    """Raise `StoreError` for a user's folder that is relative, or in a project."""
    variable = "HOME" if usual else "MEMFS_HOME"
    what = f"{variable} sets your own store to {named}, which is"
    hint = f"set {variable} to {_OWN}"
    if not os.path.isabs(named):
        raise StoreError(f"{what} not an absolute path", hint)
    above = os.path.dirname(os.path.dirname(root)) if usual else root
    project = account.find_project(above, has_home=not usual)
    if project:
        raise StoreError(f"{what} inside the project {project}", hint)


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
    if os.environ.get("MEMFS_HOME") or files.is_below(user, folder):
        for each in {folder, os.path.realpath(os.getcwd())}:  # a hook may be told of another one
            _check_own(user, each)
    while True:
        root = f"{folder}/{NAME}" if folder != "/" else f"/{NAME}"
        if root == user:
            _check_account(folder)
        else:
            if is_store(root):
                _check_outside(user, folder)
                return make_project(root, folder)
            if os.path.islink(root) and is_store(os.path.realpath(root)):
                raise StoreError(
                    f"{root} is a link; memfs does not follow links, "
                    "which could lead into another project",
                    "work in the folder that the link leads to, or create a store here: memfs init",
                )
            if files.is_folder(root) and (store := make_project(root, folder)).trusted:
                _check_outside(user, folder)
                return store
            if files.is_file(f"{root}/local/journal.jsonl"):
                raise StoreError(
                    f"{root}/{CONFIG} is missing or damaged, so the store cannot be used",
                    "run memfs init if the file is missing, or add the line 'memfs: 1' to it",
                )
        parent = os.path.dirname(folder)
        home = home or os.path.realpath(os.path.expanduser("~"))
        if folder in (parent, home) or os.path.exists(f"{folder}/.git"):
            return None
        folder = parent


def find_trusted(start: str) -> Store | None:
    """Return the nearest project store (see `find`), None if this user does not trust it."""
    store = find(start)
    return store if store is not None and store.trusted else None


def _check_own(user: str, folder: str) -> None:
    """Refuse a store of the user's that the project of a folder can have named."""
    usual = user == os.path.realpath(os.path.join(os.path.expanduser("~"), NAME))
    if usual and files.is_below(user, folder):  # else the user database is not asked at each prompt
        own = account.home()
        if own and not files.is_below(own, folder):
            _check_outside(user, folder)
    if not usual and account.is_of_project(user, folder) and not files.is_below(folder, user):
        raise StoreError(
            f"MEMFS_HOME sets your own store to {user}, which overlaps with {folder}",
            f"set MEMFS_HOME to {_OWN}",
        )


def _check_account(folder: str) -> None:
    """Refuse a home that another than the system's is, where it is worked in: a project set it."""
    own = account.home()
    if own and own != folder:
        raise StoreError(
            f"your own store cannot be inside the current folder: {folder}/{NAME}",
            f"set HOME to {own}, and unset MEMFS_HOME; a project could have set these variables",
        )


def _check_outside(user: str, project: str) -> None:
    """Refuse a store of the user's that is inside of the project: who set it is the project."""
    if files.is_below(user, project):
        raise StoreError(
            f"your own store cannot be inside the project {project}: {user}",
            "set HOME and MEMFS_HOME to folders that you own outside of every project",
        )


def is_store(root: str) -> bool:
    """Tell whether a folder is a store of ours: its `config.yaml` names `memfs:`.

    A folder we may not look into is an error, not "no store".
    """
    try:
        text = files.read(f"{root}/{CONFIG}", cap=4096)
    except PermissionError as error:
        raise StoreError(
            f"cannot read the store {root}: permission denied",
            f"check the owner and permissions: ls -la {root}",
        ) from error
    return text is not None and ("\n" + text.lstrip("\ufeff")).find("\nmemfs:") >= 0


def trust_folder(store: Store) -> str:
    """Return the user tier's folder of data on a project's store, by its real path."""
    drive, path = os.path.splitdrive(os.path.realpath(store.main))
    return f"{user_root()}/local/trusted/{(drive.rstrip(':') + path).lstrip('/')}"


def is_trusted(store: Store) -> bool:
    """Tell whether this user trusts a project's store: both sides hold the same token."""
    token = files.read(f"{trust_folder(store)}/token", cap=100)
    return bool(token) and token == files.read(f"{store.local}/token", cap=100)


def is_checked(store: Store) -> bool:
    """Tell whether git's index is unchanged since nothing of `local/` was in it."""
    sign = worktrees.index_sign(store.main)
    return files.read(f"{trust_folder(store)}/checked") == sign


def without_quarantine(store: Store) -> Store:
    """Return the same store without quarantine."""
    return Store(store.root, store.tier, store.local, store.tree, main=store.main, as_is=True)


def held_before(store: Store) -> bool:
    """Tell whether the last review held changes back: later changes cannot lift that."""
    return files.is_file(f"{trust_folder(store)}/holding")


def require(start: str) -> Store:
    """Return the project store of `start`, else the user tier; raises `StoreError` without."""
    found = find(start) or user_store()
    if found is None:
        raise StoreError(
            f"there is no memfs store at or above {start}", "create a store: memfs init"
        )
    return found


def block_folder(store: Store, tier: str, session: str = "") -> str:
    """Return the folder with the blocks of a tier."""
    return store.session(session) if tier == labels.SESSION else f"{store.root}/blocks"


def parse_label(name: str) -> str:
    """Return the label of the block whose file is at a path in a store; "" for other files."""
    inside = name.removeprefix("blocks/")
    is_block = inside != name and name.endswith(".md")
    return labels.normalise(inside.removesuffix(".md")) if is_block else ""


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


def root_of_tree(store: Store, tree: str) -> str | None:
    """Return the store's folder in another worktree of its repository, None if that is gone."""
    main = store.main
    if tree == store.tree or not tree:
        return store.root if tree == store.tree else main
    top = os.path.dirname(main)
    while not (folder := _find_worktrees(top)):
        if os.path.dirname(top) == top:
            return None
        top = os.path.dirname(top)
    plain = tree == os.path.basename(tree) and tree not in (os.curdir, os.pardir)
    pointer = files.read(f"{folder}/{tree}/gitdir") if plain else None
    other = os.path.dirname((pointer or "").strip())
    if "\0" in other or not os.path.isabs(other) or worktrees.git_folder(other) != (top, tree):
        return None  # it is gone, or it never was a worktree of this repository
    return os.path.join(other, os.path.relpath(main, top))


def _find_worktrees(top: str) -> str:
    """Return the folder in which a main worktree or a bare repository knows its linked ones."""
    git = f"{top}/.git" if files.is_folder(f"{top}/.git") else top
    return f"{git}/worktrees" if files.is_file(f"{git}/HEAD") else ""


def is_local(name: str) -> bool:
    """Tell whether a path in a store is in a local folder, whoever made that."""
    first = name.partition("/")[0]
    return first == LOCAL or first.startswith(f"{LOCAL}-")


def make_project(root: str, folder: str = "") -> Store:
    """Return the project's store at `root`, with the local folder that this user has in it."""
    folder = folder or os.path.dirname(root)
    top, main, tree = folder, root, ""
    while not os.path.exists(f"{top}/.git") and os.path.dirname(top) != top:
        top = os.path.dirname(top)
    if os.path.exists(f"{top}/.git"):
        found, tree = worktrees.git_folder(top)
        bare = not os.path.lexists(f"{found}/.git")
        if tree and os.path.isdir(found) and not (bare and _has_own_local(root)):
            main = os.path.join(found, os.path.relpath(root, top))
        else:
            tree = ""
    store = Store(root, labels.PROJECT, "", tree, main=main)
    if not store.trusted:  # a token that both sides have is of a folder that was made here
        store.local, store.decided = _find_local(main), None
    return store


def _has_own_local(root: str) -> bool:
    """Tell whether a worktree has a local folder, as earlier versions made it beside a bare one."""
    return any(_is_made_here(f"{root}/{name}") for name in (LOCAL, *list_numbered(root)))


def _find_local(main: str) -> str:
    """Return the path of this user's local folder in a project's store, existing or not."""
    usual = f"{main}/{LOCAL}"
    paths = [usual, *(f"{main}/{name}" for name in list_numbered(main))]
    own = next(filter(_is_made_here, paths), "")
    if own or not os.path.lexists(usual):
        return own or usual
    return find_free_local(usual)


def find_free_local(usual: str) -> str:
    """Return the first `local-N` that does not exist."""
    number = 2
    while os.path.lexists(f"{usual}-{number}"):
        number += 1
    return f"{usual}-{number}"


def list_numbered(main: str) -> list[str]:
    """List the folders `local-N` of a store."""
    return [name for name in list_folders(main) if name.startswith(f"{LOCAL}-")]


def list_folders(folder: str) -> list[str]:
    """List the folders in a folder, sorted; none where it cannot be read."""
    try:
        return sorted(name for name, is_folder in files.entries(folder) if is_folder)
    except OSError:
        return []


def _is_made_here(path: str) -> bool:
    """Tell whether memfs made a local folder on this machine, for this user."""
    token = read_token(path)
    place = find_token_folder(token) if token else None
    if place is None:
        return False
    if place != path:
        if read_token(place) == token and not _is_same(place, path):
            return False
        try:  # noqa: SIM105 - what suppresses errors is heavy
            note_token(path, token)
        except OSError:
            pass  # it is looked for again
    return True


def _is_same(one: str, other: str) -> bool:
    """Tell whether two paths are one folder: it may be mounted twice."""
    found = files.status(one), files.status(other)
    return None not in found and os.path.samestat(*found)  # type: ignore[arg-type]


def read_token(folder: str) -> str:
    """Return the token that a local folder holds, "" for none, or for what cannot be one."""
    found = files.read(f"{folder}/{TOKEN}", cap=_DIGITS + 1) or ""
    return found if len(found) == _DIGITS and set(found) <= set("0123456789abcdef") else ""


def find_token_folder(token: str) -> str | None:
    """Return the folder that a token was made for, None if it was not made here."""
    return files.read(f"{user_root()}/{MADE}/{token}")


def note_token(path: str, token: str) -> None:
    """Save that a local folder was made here, with its token. Raises `OSError`."""
    from memfs.files import atomic  # not where something is read

    folder = f"{user_root()}/{MADE}"
    files.make_folder(folder, private=True)
    atomic.write(f"{folder}/{token}", path, private=True)
