"""The embedding model: whether it can be used, and what its vectors cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.memory import coverage
from memfs.ops.doctor.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memfs.store.blocks import Place


def look(place: Place) -> Iterator[Finding]:
    """Look at the model that is configured."""
    found = coverage.look(place)
    if found.problem:
        yield Finding("warning", f"search goes by words alone: {found.problem}", found.hint)
    elif found.off and found.bytes:
        yield Finding(
            "ok", f"embedding is off; {found.bytes:,} bytes of vectors are kept",
            "memfs model use none removes them",
        )  # fmt: skip
    elif found.documents or found.off:
        yield Finding("ok", f"embedding: {found.line()}")
    if found.failure:
        yield Finding(
            "warning", f"vectors could not be made in the background: {found.failure}",
            f"in front: memfs model use {found.model}",
        )  # fmt: skip
