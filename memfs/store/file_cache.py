"""What was read from files, kept while they stay the same: for a process that reads them often."""

from collections.abc import Callable
from typing import Generic, TypeVar

Content = TypeVar("Content")


class FileCache(Generic[Content]):
    """The contents of files by path, as `load` reads them. What it returns is not to be changed."""

    def __init__(self, load: Callable[[str], Content]) -> None:
        self._load = load
        self._known: dict[str, tuple[object, Content]] = {}

    def read(self, path: str, sign: object) -> Content:
        """Return the content of a file; `sign` changes when the file does, None: nobody knows."""
        known = self._known.get(path)
        if known and sign is not None and known[0] == sign:
            return known[1]
        content = self._load(path)
        self._known[path] = (sign, content)
        return content
