"""Writing a setting into `config.yaml`: everything else in it stays as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs import files
from memfs.core import frontmatter, yaml_edit
from memfs.core.errors import StoreError
from memfs.files import atomic
from memfs.store import config, lock, store_paths

if TYPE_CHECKING:
    from memfs.store.store_paths import Store


def write(store: Store, key: str, value: str) -> str:
    """Set a key of a store's configuration, and return its path.

    Comments, order and line ends stay. Raises `StoreError` for a file that cannot be changed so.
    """
    path = f"{store.root}/{store_paths.CONFIG}"
    with lock.hold_lock(store):
        before = files.read(path) or ""
        eol = frontmatter.line_end(before)
        text = before if not before or before.endswith("\n") else before + eol
        head = f"---{eol}{text}---{eol}"
        after = frontmatter.strip_fences(yaml_edit.write(head, {key: value}, eol))
        if config.parse(before)[0] | {key: value} != config.parse(after)[0]:
            raise StoreError(
                f"{path} cannot be changed without spoiling what is in it",
                f"write the line into it yourself: {key}: {yaml_edit.scalar(value)}",
            )
        if after != before:
            atomic.write(path, after, private=store.private, locked=True)
    return path
