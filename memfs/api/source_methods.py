"""Data sources, as methods."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from memfs.api.block_edits import BlockEdits
from memfs.core.errors import RejectedError

if TYPE_CHECKING:
    from memfs.ops.source import ListedSource


class SourceMethods(BlockEdits):
    """Folders and files outside of the memory that `search` looks into, too."""

    def sources(self) -> list[ListedSource]:
        """Return the sources of the project and the user, each with the state of its index."""
        found: list[ListedSource] = _load_op().list_sources(self._place)[0]
        return found

    def add_source(
        self,
        name: str,
        *paths: str | os.PathLike[str],
        globs: Sequence[str] = (),
        excludes: Sequence[str] = (),
        chunk_size: int | None = None,
        overlap: int | None = None,
        user: bool = False,
    ) -> ListedSource:
        """Add a source to the configuration of the project (or the user), and index it.

        `globs` and `excludes` are patterns as in `.gitignore`. Raises `RejectedError` for a name
        that is taken, and for a project that the user has not trusted.
        """
        op = _load_op()
        done = op.add(
            self._place,
            name,
            [os.fspath(path) for path in paths],
            self._make_origin(""),
            _ignore_progress,
            globs=globs,
            excludes=excludes,
            chunk_size=chunk_size,
            overlap=overlap,
            user=user,
        )
        if done.state is None:
            raise RejectedError(
                "it is not indexed: its user has not trusted the store", "memfs trust"
            )
        named = f"user:{done.name}" if user else done.name
        found: ListedSource = op.find_source(self._place, named)
        return found

    def sync_sources(self, name: str = "") -> list[ListedSource]:
        """Index what has changed in the files of a source, or of all."""
        found: list[ListedSource] = _load_op().sync(self._place, name, _ignore_progress)
        return found

    def remove_source(self, name: str) -> None:
        """Remove a source and its index; its files stay."""
        _load_op().remove(self._place, name, self._make_origin(""))


def _load_op() -> ModuleType:
    """Import what reads documents at its first use: not every program has sources."""
    return import_module("memfs.ops.source")


def _ignore_progress(_name: str, _length: int) -> Callable[[int], object]:
    return lambda _more: None
