"""Check the embedding model: whether it can be used, and what its vectors cover."""

from __future__ import annotations

from collections.abc import Iterator

from memfs.ops.doctor.finding import Finding
from memfs.recall import model_config
from memfs.store.blocks import Place


def check_model(place: Place) -> Iterator[Finding]:
    """Check the configured model."""
    found = model_config.load_status(place)
    if found.problem:
        yield Finding("warning", f"search goes by words alone: {found.problem}", found.hint)
    elif found.off and found.bytes:
        yield Finding(
            "ok",
            f"embedding is off; {found.bytes:,} bytes of vectors are kept",
            "memfs model use none removes them",
        )
    elif found.documents or found.off:
        yield Finding("ok", f"embedding: {found.format_line()}")
