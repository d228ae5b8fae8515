"""The embedding model: whether it can be used, and what its vectors cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.core.settings import HYBRID
from memfs.memory import coverage
from memfs.ops.doctor.finding import Finding
from memfs.search import cold, extents, plain
from memfs.store import config

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
    yield from _cold(place)


def _cold(place: Place) -> Iterator[Finding]:
    """Say why hooks that search by themselves go by words, where more is wanted of them."""
    index = place.home.index
    served = extents.served(index)
    if served is None or config.load(place).get("hooks.cold") != HYBRID:
        return
    if served.rows > cold.MOST_ROWS:
        yield Finding(
            "warning", f"hooks.cold: hybrid: {served.rows:,} vectors are more than a hook looks at",
            f"with more than {cold.MOST_ROWS:,} it goes by words; the service looks at all",
        )  # fmt: skip
    elif plain.opened(extents.path(index, served.model)) is None:
        yield Finding(
            "warning", "hooks.cold: hybrid: a hook cannot read this model, and goes by words",
            "it reads models that cut texts as BERT does, once something was indexed with them: "
            "memfs model use bundled takes one",
        )  # fmt: skip
