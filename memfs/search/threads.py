"""A thread pool: a part of a search runs in it while the caller does another part.

That pays if most of both is computed outside of Python, and searches follow each other: a search
takes up to a tenth less time. An idle core takes as long to wake as a thread would save.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    Result = TypeVar("Result")

_SOON = 0.01  # seconds since the last call, within which a core is awake
_last = 0.0
_threads: ThreadPoolExecutor | None = None


def start_threads() -> None:
    """Create the thread pool: for a process that searches more than once."""
    if _threads is None:
        with suppress(RuntimeError):  # the interpreter ends
            _create_pool()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_create_pool)  # a forked process has none of them


def begin_call(call: Callable[[], Result]) -> Callable[[], Result]:
    """Start a call in the pool; return a function that waits for its result, or raises its error.

    Where a thread does not pay or none is available, that function is the call itself. A call
    that no thread has started by then runs in the caller.
    """
    global _last
    before, _last = _last, time.monotonic()
    if _threads is None or _last - before > _SOON:
        return call
    try:
        begun = _threads.submit(call)
    except RuntimeError:
        _create_pool()  # the old pool still queues the failed call
        return call
    return lambda: call() if begun.cancel() else begun.result()


def _create_pool() -> None:
    global _threads  # noqa: PLW0603 - one for all indexes
    from concurrent.futures import ThreadPoolExecutor  # for the first large search

    _threads = ThreadPoolExecutor(os.cpu_count(), "search")
