"""Which project stores this user trusts, and what they last saw of their blocks. Hot path.

Both are in the user tier: nothing in a repository can say that it is to be trusted.
"""

from memfs import files
from memfs.core import fastjson
from memfs.files import atomic
from memfs.store import blocks, layout, local_folder
from memfs.store.blocks import Place
from memfs.store.layout import Store

_CAP = 256 << 20  # the texts of all blocks


class Seen:
    """The texts of a project's blocks (by `project:label`) as its user last saw them.

    `commit` is what was checked out then, "" outside git.
    """

    __slots__ = ("commit", "texts")

    def __init__(self, texts: dict[str, str], commit: str) -> None:
        self.texts = texts
        self.commit = commit


def seen(store: Store) -> Seen:
    """Return what this user last saw; a linked worktree that is new has what the main one has."""
    for path in (_seen(store, store.tree), _seen(store, "")):
        try:
            found = fastjson.loads(files.read(path, cap=_CAP) or "")
        except ValueError:
            continue
        if isinstance(found, dict) and isinstance(found.get("texts"), dict):
            return Seen(found["texts"], str(found.get("commit") or ""))
    return Seen({}, "")


def texts(store: Store) -> dict[str, str]:
    """Return the texts of a project's blocks as they are, by `project:label`.

    One that cannot be read just now is as it was seen.
    """
    now = blocks.texts(Place(store, None))
    if None in now.values():
        before = seen(store).texts
        now = {key: before.get(key) if text is None else text for key, text in now.items()}
    return {key: text for key, text in now.items() if text is not None}


def changed(store: Store) -> bool:
    """Tell whether a project's blocks differ from what this user last saw of them."""
    return seen(store).texts != texts(store)


def save(store: Store, known: Seen) -> None:
    """Note what this user has seen of a project's blocks."""
    files.make_folder(layout.trust_folder(store), private=True)
    text = fastjson.dumps({"commit": known.commit, "texts": known.texts})
    atomic.write(_seen(store, store.tree), text, private=True)


def give(store: Store) -> None:
    """Trust a store, with its blocks as they are."""
    from memfs.store import git

    save(store, Seen(texts(store), git.head(store.root)))
    if not layout.trusted(store):
        local_folder.make(store)
        token = local_folder.claim(store)
        atomic.write(f"{layout.trust_folder(store)}/token", token, private=True)


def take(store: Store) -> bool:
    """Trust a store no more, in none of its worktrees; tell whether it was trusted."""
    folder = layout.trust_folder(store)
    gone = files.remove(f"{folder}/token")
    if gone:
        files.sync_folder(folder)
    return gone


def _seen(store: Store, tree: str) -> str:
    """Return the file of one working tree: a linked one may be on another branch."""
    name = f"-{layout.file_name(tree)}" if tree else ""
    return f"{layout.trust_folder(store)}/seen{name}.json"
