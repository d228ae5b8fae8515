"""Check the configured kinds of memory, with their options."""

from __future__ import annotations

from collections.abc import Iterator

from memfs.knowledge.kinds import registry
from memfs.ops.doctor.finding import Finding
from memfs.recall.index_session import IndexSession
from memfs.store import config
from memfs.store.blocks import Place


def check_kinds(place: Place) -> Iterator[Finding]:
    """Check what `memory_blocks` names."""
    if config.load(place).get("memory_blocks") or config.list_refused_kinds(place):
        for problem in registry.load_kinds(IndexSession(place)).problems:
            yield Finding("warning", problem)
