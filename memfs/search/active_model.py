"""The embedding model that is searched: a new one's vectors replace its own by one rename."""

from contextlib import suppress

from memfs import files
from memfs.files import atomic, signatures, trees
from memfs.search import TEXT
from memfs.search.vector_layout import FOLDER, POINTER, ROWS, load_active_extent, path

GRAPH = "graph.json"  # in the folder of a model's vectors: the stamp of their graph


def serve(index: str, model: str) -> None:
    """Make a model's vectors the ones that are searched, and remove all others."""
    folder = f"{index}/{FOLDER}"
    now = load_active_extent(index)
    if now is None or now.model != model:
        files.make_folder(folder, private=True, durable=False)
        atomic.write_derived(f"{folder}/{POINTER}", model.encode(), durable=True)
    keep_only(index, model)


def keep_only(index: str, *models: str) -> None:
    """Remove the vectors of all other models."""
    folder = f"{index}/{FOLDER}"
    with suppress(FileNotFoundError):
        for name, is_folder in files.entries(folder):
            if is_folder and name not in models:
                trees.remove(f"{folder}/{name}")
            elif not is_folder and name != POINTER:
                with suppress(OSError):
                    files.remove(f"{folder}/{name}")


def drop_vectors(index: str) -> None:
    """Remove all vectors."""
    files.remove(f"{index}/{FOLDER}/{POINTER}")
    trees.remove(f"{index}/{FOLDER}")


def measure_size(index: str) -> int:
    """Return how many bytes all vectors take."""
    return trees.measure_size(f"{index}/{FOLDER}")


def get_signature(index: str, model: str) -> tuple[object, ...]:
    """Return the signature of an index and a model's vectors; it changes with each publication."""
    vectors = f"{index}/{FOLDER}"
    paths = (f"{index}/{TEXT}/meta.json", f"{vectors}/{POINTER}", f"{vectors}/{model}/{ROWS}")
    return tuple(signatures.sign_file(path) for path in paths)


def sign_graph(index: str, model: str) -> object:
    """Return the signature of the graph of a model's vectors; a rebuild changes it."""
    return signatures.sign_file(f"{path(index, model)}/{GRAPH}")
