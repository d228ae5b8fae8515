"""LABEL@VERSION, as commands take it."""

from __future__ import annotations

from memfs.core.errors import UsageError
from memfs.store.block_history import is_commit, is_relative


def split_version(label: str) -> tuple[str, str]:
    """Split LABEL@VERSION into both; the version is "" if there is none. Raises `UsageError`."""
    name, at, version = label.partition("@")
    if at and not (version.isdecimal() or is_commit(version) or is_relative(version)):
        raise UsageError(f"{version!r} is not a version", f"for example: memfs show {name}@1")
    return name, version
