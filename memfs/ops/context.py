"""Compose context for a task from all that memory holds."""

from __future__ import annotations

from memfs.context.assemble import Compression
from memfs.core.errors import UsageError
from memfs.knowledge import orchestrator
from memfs.knowledge.kinds.protocol import Query, State
from memfs.knowledge.orchestrator import Context, Orchestrator
from memfs.recall.open_store import OpenStore

# Most items to consider of each kind of memory.
_MOST = {"vector": 150, "facts": 15, "static": 10, "graph": 3}


def for_task(
    index: OpenStore, task: str, limit: int = 0, compression: Compression | None = None
) -> Context:
    """Compose context for a task from the configured kinds, at most `limit` tokens.

    0: the configured limit. Raises `MemfsError` for an empty task, or too small a limit.
    """
    if not task.strip():
        raise UsageError("which task?", 'memfs recall "fix the flaky test"')
    memory = orchestrator.for_session(index)
    return memory.context(
        State(task=task, session=index.place.session),
        _build_queries(memory),
        limit=limit,
        compression=compression,
    )


def _build_queries(memory: Orchestrator) -> dict[str, Query]:
    """Return the query for each kind of memory, with its limit of items."""
    kinds = memory.kinds.values()
    return {kind.id: Query(limit=_MOST[kind.type]) for kind in kinds if kind.type in _MOST}
