"""Threads of this process for a part of a search, while its caller does another.

That pays where most of both is computed outside of Python, and searches follow each other: one
takes up to a tenth less time. A core that rests takes as long to wake as it would save.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import ThreadPoolExecutor  # for the first large search
    from typing import TypeVar

    Result = TypeVar("Result")

_SOON = 0.01  # seconds after the last call was begun, in which a core is awake
_last = 0.0
_threads: ThreadPoolExecutor | None = None


def start_threads() -> None:
    """Let there be threads: for a process that searches more than once."""
    if _threads is None:
        with suppress(RuntimeError):  # the interpreter ends
            _renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_renew)  # a forked process has none of them


def begin_call(call: Callable[[], Result]) -> Callable[[], Result]:
    """Begin a call in another thread; return what waits for its result, or raises what it raised.

    Where that does not pay, or there are no threads (none were made ready, there is no room for
    one, the interpreter ends), it is the call itself; and who waits makes it where no thread has
    come to that by then.
    """
    global _last
    before, _last = _last, time.monotonic()
    if _threads is None or _last - before > _SOON:
        return call
    try:
        begun = _threads.submit(call)
    except RuntimeError:
        _renew()  # it keeps what it could not begin
        return call
    return lambda: call() if begun.cancel() else begun.result()


def _renew() -> None:
    global _threads  # noqa: PLW0603 - one for all indexes
    from concurrent.futures import ThreadPoolExecutor  # for the first large search

    _threads = ThreadPoolExecutor(os.cpu_count(), "search")
