"""Store reference entries once, and find them by key, category, tag or text."""

from memfs.memory.kinds.static import LOCK, Placed, find, get, put, remove

__all__ = ["LOCK", "Placed", "find", "get", "put", "remove"]
