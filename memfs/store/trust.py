"""Which project stores this user trusts, and what they last saw of their blocks. Hot path.

Both are in the user tier: nothing in a repository can say that it is to be trusted.
"""

import os

from memfs.core import fastjson
from memfs.store import blocks, files, layout
from memfs.store.blocks import Place
from memfs.store.layout import Store


def seen(store: Store) -> dict[str, str]:
    """Return the texts of the blocks (by `project:label`) as this user last saw them.

    A linked worktree that was not seen yet has those of the main one.
    """
    for path in (_seen(store, store.tree), _seen(store, "")):
        try:
            found = fastjson.loads(files.read(path) or "")
        except ValueError:
            continue
        if isinstance(found, dict):
            return {key: text for key, text in found.items() if isinstance(text, str)}
    return {}


def texts(store: Store) -> dict[str, str]:
    """Return the texts of a project's blocks as they are, by `project:label`.

    One that cannot be read just now is as it was seen.
    """
    now = blocks.texts(Place(store, None))
    if None in now.values():
        before = seen(store)
        now = {key: before.get(key) if text is None else text for key, text in now.items()}
    return {key: text for key, text in now.items() if text is not None}


def changed(store: Store) -> bool:
    """Tell whether a project's blocks differ from what this user last saw of them."""
    return seen(store) != texts(store)


def save(store: Store, known: dict[str, str]) -> None:
    """Note what this user has seen of a project's blocks (`project:label` to text)."""
    files.make_folder(layout.trust_folder(store), private=True)
    files.write(_seen(store, store.tree), fastjson.dumps(known), private=True)


def give(store: Store, known: dict[str, str]) -> None:
    """Trust a store, with its blocks as in `known`."""
    save(store, known)
    if not layout.trusted(store):
        layout.make_local(store)
        token = os.urandom(16).hex()
        for folder in (store.local, layout.trust_folder(store)):
            files.write(f"{folder}/token", token, private=True)


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
