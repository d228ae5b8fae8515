"""Data sources, as methods."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memfs.api.block_edits import BlockEdits
from memfs.core.errors import RejectedError
from memfs.ops import source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memfs.ops.source import ListedSource


class SourceMethods(BlockEdits):
    """Folders and files outside of the memory that `search` looks into, too."""

    def sources(self) -> list[ListedSource]:
        """Return the sources of the project and the user, each with the state of its index."""
        return source.list_sources(self._place)[0]

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
        done = source.add(
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
        return source.find_source(self._place, f"user:{done.name}" if user else done.name)

    def sync_sources(self, name: str = "") -> list[ListedSource]:
        """Index what has changed in the files of a source, or of all."""
        return source.sync(self._place, name, _ignore_progress)

    def remove_source(self, name: str) -> None:
        """Remove a source and its index; its files stay."""
        source.remove(self._place, name, self._make_origin(""))


def _ignore_progress(_name: str, _length: int) -> Callable[[int], object]:
    return lambda _more: None
