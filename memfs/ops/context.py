"""Compose context for a task from all that memory holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memfs.context.pieces import Compression, Context
from memfs.core.errors import UsageError
from memfs.ipc import service_query
from memfs.store.blocks import Place

if TYPE_CHECKING:
    from memfs.recall.open_store import OpenStore

# Most items to consider of each kind of memory.
_MOST = {"vector": 150, "facts": 15, "static": 10, "graph": 3}


def find_context(
    place: Place,
    task: str,
    limit: int,
    compression: Compression | None,
    open_store: Callable[[], OpenStore],
) -> Context:
    """Return the context of the user's service; without one, this process opens the store."""
    told = service_query.ask("context", place, [task, limit, compression], Context)
    return told or for_task(open_store(), task, limit, compression)


def answer(
    store: OpenStore, session: str, task: str, limit: int, compression: Compression | None
) -> Context:
    """Answer the query of another process (see `service_query`). Raises `MemfsError`."""
    return for_task(store, task, limit, compression, session)


def for_task(
    index: OpenStore,
    task: str,
    limit: int = 0,
    compression: Compression | None = None,
    session: str = "",
) -> Context:
    """Compose context for a task from the configured kinds, at most `limit` tokens.

    0: the configured limit. `session` is the running one, "" for that of the place. Raises
    `MemfsError` for an empty task, or too small a limit.
    """
    if not task.strip():
        raise UsageError("the task is empty", 'give a task: memfs recall "fix the flaky test"')
    from memfs.knowledge import orchestrator  # with all kinds of memory
    from memfs.knowledge.kinds.protocol import Query, State  # likewise

    memory = orchestrator.for_session(index)
    kinds = [kind for kind in memory.kinds.values() if kind.type in _MOST]
    return memory.context(
        State(task=task, session=session or index.place.session),
        {kind.id: Query(limit=_MOST[kind.type]) for kind in kinds},
        limit=limit,
        compression=compression,
    )
