"""Store reference entries once, and find them by key, category, tag or text."""

from memfs.memory.kinds.static import Placed, find, get, put, remove

__all__ = ["Placed", "find", "get", "put", "remove"]
