"""`memfs bench`: a module for each benchmark, imported when it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.cli.group import LazyGroup
from memfs.store import scratch_store

if TYPE_CHECKING:
    import click


class _BenchGroup(LazyGroup):
    def invoke(self, context: click.Context) -> object:
        context.with_resource(scratch_store.home())
        return super().invoke(context)


command = _BenchGroup(
    "bench",
    __name__,
    ("hook", "retrieval", "recall", "precision", "ingest", "search"),
    "Measure memfs on this machine, each figure against its floor in the same run.",
)
