"""memfs: memory for coding assistants that is plain files.

Importing this package costs nothing: names are resolved when they are first used.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memfs.api import Memory
    from memfs.api import open_memory as open  # noqa: A004 - memfs.open(path) reads as it should
    from memfs.core.errors import MemfsError
    from memfs.knowledge.kinds.facts import Facts
    from memfs.knowledge.kinds.graph import Graph
    from memfs.knowledge.kinds.protocol import Capacity, Found, Kind, Query, State
    from memfs.knowledge.kinds.static import Static
    from memfs.knowledge.kinds.vector import Vector
    from memfs.knowledge.orchestrator import Context, Orchestrator
    from memfs.secrets import find_secrets

__version__ = "0.1.0"
__all__ = [
    "Capacity",
    "Context",
    "Facts",
    "Found",
    "Graph",
    "Kind",
    "MemfsError",
    "Memory",
    "Orchestrator",
    "Query",
    "State",
    "Static",
    "Vector",
    "__version__",
    "find_secrets",
    "open",
]

_KINDS = "memfs.knowledge.kinds"
_WHERE = {
    "open": ("memfs.api", "open_memory"),
    "Memory": ("memfs.api", "Memory"),
    "MemfsError": ("memfs.core.errors", "MemfsError"),
    "find_secrets": ("memfs.secrets", "find_secrets"),
    "Orchestrator": ("memfs.knowledge.orchestrator", "Orchestrator"),
    "Context": ("memfs.knowledge.orchestrator", "Context"),
    "Vector": (f"{_KINDS}.vector", "Vector"),
    "Facts": (f"{_KINDS}.facts", "Facts"),
    "Static": (f"{_KINDS}.static", "Static"),
    "Graph": (f"{_KINDS}.graph", "Graph"),
    **{
        name: (f"{_KINDS}.protocol", name)
        for name in ("Capacity", "Found", "Kind", "Query", "State")
    },
}


def __getattr__(name: str) -> object:
    if name in _WHERE:
        module, attribute = _WHERE[name]
        return getattr(__import__(module, fromlist=[attribute]), attribute)
    raise AttributeError(f"module 'memfs' has no attribute {name!r}")
