"""Our instructions to a model, as files of the stores replace or extend them. Hot path."""

from memfs import files
from memfs.store import quarantine, resources
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

FOLDER = "prompts"
_MOST = 8 << 10  # bytes that are read of a file
_BEFORE = "{default}"  # in a file: what stands without it


def read(place: Place, name: str, host: str = "") -> str:
    """Return the text of `prompts/NAME.md`: of the project over the user's over ours.

    In each store `prompts/NAME.HOST.md` is over that, for this host alone. `{default}` in a file is
    the text that it would replace. A project's files are read only while this user trusts the
    project, and one that is held back as it was accepted.
    """
    text = resources.read_text("templates", f"{name}.md")
    names = (name, f"{name}.{host}") if host else (name,)
    for store in (place.user, place.project):
        if store and store.trusted:
            for each in names:
                own = files.read(quarantine.path_of(store, f"{FOLDER}/{each}.md"), cap=_MOST) or ""
                if own.strip():
                    text = own.replace(_BEFORE, text.strip())
    return text


def list_files(store: Store) -> list[str]:
    """List the names of the files in the folder of a store, also those that nothing reads."""
    return sorted(files.names(f"{store.root}/{FOLDER}"))
