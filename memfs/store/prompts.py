"""Our instructions to a model, as files of the stores replace or extend them. Hot path."""

from memfs import files
from memfs.store import resources, store_paths
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

FOLDER = "prompts"
_MOST = 8 << 10  # bytes that are read of a file
_BEFORE = "{default}"  # in a file: what stands without it


def read(place: Place, name: str) -> str:
    """Return the text of `prompts/NAME.md`: of the project over the user's over ours.

    `{default}` in a file is the text that it would replace. A project's file is read only while
    this user trusts the project, and one that is held back as it was accepted.
    """
    text = resources.read_text("templates", f"{name}.md")
    for store in (place.user, place.project):
        if store and (store.private or store_paths.is_trusted(store)):
            own = files.read(_get_path(store, name), cap=_MOST) or ""
            if own.strip():
                text = own.replace(_BEFORE, text.strip())
    return text


def _get_path(store: Store, name: str) -> str:
    file = f"{FOLDER}/{name}.md"
    if store_paths.may_quarantine(store):
        from memfs.store import quarantine

        return quarantine.path_of(store, file)
    return f"{store.root}/{file}"
