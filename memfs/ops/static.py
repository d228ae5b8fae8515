"""Store reference entries once, and find them by key, category, tag or text."""

from memfs.knowledge.kinds.static import StoredEntry, find, get, put, remove

__all__ = ["StoredEntry", "find", "get", "put", "remove"]
