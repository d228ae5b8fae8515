"""memfs: memory for coding assistants that is plain files.

Importing this package costs nothing: names are resolved when they are first used.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.api import Memory
    from memfs.api import open_memory as open  # noqa: A004 - memfs.open(path) reads as it should
    from memfs.core.errors import MemfsError
    from memfs.core.secrets import find_secrets

__version__ = "0.1.0"
__all__ = ["MemfsError", "Memory", "__version__", "find_secrets", "open"]

_WHERE = {
    "open": ("memfs.api", "open_memory"),
    "Memory": ("memfs.api", "Memory"),
    "MemfsError": ("memfs.core.errors", "MemfsError"),
    "find_secrets": ("memfs.core.secrets", "find_secrets"),
}


def __getattr__(name: str) -> object:
    if name in _WHERE:
        module, attribute = _WHERE[name]
        return getattr(__import__(module, fromlist=[attribute]), attribute)
    raise AttributeError(f"module 'memfs' has no attribute {name!r}")
