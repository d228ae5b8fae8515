"""Which project stores this user trusts, and which texts they accepted: git's ids of each path.

Both are in the user tier: nothing in a repository can say that it is to be trusted. Hot path.
"""

import json

from memfs import files
from memfs.files import atomic, signatures
from memfs.store import local_folder, store_paths, worktrees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.store.store_paths import Store

_CAP = 256 << 20  # bytes of the ids of a large archive


class GitReview:
    """How far git was looked at in one working tree.

    `sign` is what git's index looked like, `reflog` the last line of git's log of what was checked
    out, `since` the commit that was, before what is held back came ("" for none). `held` maps
    paths, relative to the store, to the copies that are read instead, "" for none.
    """

    __slots__ = ("held", "reflog", "sign", "since")

    def __init__(self, sign: str, reflog: str, since: str, held: dict[str, str]) -> None:
        self.sign = sign
        self.reflog = reflog
        self.since = since
        self.held = held


class AcceptedTexts:
    """What a user accepted of a store, by its paths (relative to the store).

    `ids` are git's ids of all texts that were accepted at a path. `there` is the id of the one that
    a working tree had there when it was looked at last.
    """

    __slots__ = ("ids", "there")

    def __init__(self, ids: dict[str, list[str]], there: dict[str, str]) -> None:
        self.ids = ids
        self.there = there

    def is_accepted(self, name: str, ident: str) -> bool:
        """Tell whether a text was accepted at a path."""
        return ident in self.ids.get(name, ())

    def accept(self, name: str, ident: str) -> None:
        """Accept what is at a path, "" for no file."""
        if not ident:
            self.there.pop(name, None)
            return
        if not self.is_accepted(name, ident):
            self.ids.setdefault(name, []).append(ident)
        self.there[name] = ident


def load_accepted(store: "Store") -> AcceptedTexts | None:
    """Load what this user accepted, None if nothing was saved.

    Linked worktrees share the texts; what was there is each one's own.
    """
    ids = _load(f"{store_paths.trust_folder(store)}/accepted.json").get("ids")
    if not isinstance(ids, dict):
        return None
    there = _load(_get_tree_path(store, "there")).get("there")
    return AcceptedTexts(
        {str(name): list(map(str, each)) for name, each in ids.items() if isinstance(each, list)},
        _parse_texts(there),
    )


def load_review(store: "Store") -> GitReview | None:
    """Load the last review, None if there was none."""
    found = _load(_get_tree_path(store, "looked"))
    if not found:
        return None
    sign, reflog, since = (str(found.get(name) or "") for name in ("sign", "reflog", "since"))
    return GitReview(sign, reflog, since, _parse_texts(found.get("held")))


def is_behind(store: "Store") -> bool:
    """Tell whether git has changes that were not reviewed, or some are quarantined."""
    found = load_review(store)
    return found is None or bool(found.held) or found.sign != sign_store(store)


def sign_store(store: "Store") -> str:
    """Return a cheap signature of git's state and a store's files."""
    tree = signatures.sign_tree(store.root, store_paths.LOCAL, "archive")
    return f"{worktrees.index_sign(store.root)} {tree}"


def save(store: "Store", known: AcceptedTexts, how_far: GitReview) -> None:
    """Save what this user accepted, and the review. The caller holds the lock."""
    folder = store_paths.trust_folder(store)
    files.make_folder(folder, private=True)
    own = {name: getattr(how_far, name) for name in GitReview.__slots__}
    for path, value in (
        (f"{folder}/accepted.json", {"ids": known.ids}),
        (_get_tree_path(store, "there"), {"there": known.there}),
        (_get_tree_path(store, "looked"), own),
    ):
        atomic.write(path, json.dumps(value), private=True, locked=True)


def grant_trust(store: "Store") -> None:
    """Trust a store: both sides get the same token."""
    if not store_paths.is_trusted(store):
        local_folder.make(store)
        token = local_folder.claim_folder(store)
        files.make_folder(store_paths.trust_folder(store), private=True)
        atomic.write(f"{store_paths.trust_folder(store)}/token", token, private=True)
    store.decided = True


def revoke_trust(store: "Store") -> bool:
    """Trust a store no more, in none of its worktrees; tell whether it was trusted."""
    folder = store_paths.trust_folder(store)
    gone = files.remove(f"{folder}/token")
    store.decided = False
    if gone:
        files.sync_folder(folder)
    return gone


def _get_tree_path(store: "Store", what: str) -> str:
    """Return the path of a working tree's file: a linked tree may be on another branch."""
    name = f"-{store_paths.file_name(store.tree)}" if store.tree else ""
    return f"{store_paths.trust_folder(store)}/{what}{name}.json"


def _load(path: str) -> dict[str, object]:
    return files.read_record(path, _CAP)


def _parse_texts(found: object) -> dict[str, str]:
    if not isinstance(found, dict):
        return {}
    return {str(key): str(value) for key, value in found.items()}
