"""The thread beside: what it does, what happens when it is busy or gone, and that it ends."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from memfs.search.beside import Beside, Task


def threads() -> int:
    return sum(thread.name == "memfs beside" for thread in threading.enumerate())


def until(true: Callable[[], bool]) -> bool:
    end = time.monotonic() + 10
    while not true() and time.monotonic() < end:
        time.sleep(0.001)
    return true()


def test_it_is_done_in_another_thread_meanwhile() -> None:
    went_on = threading.Event()

    def work() -> tuple[int, bool]:
        started.set()
        return threading.get_ident(), went_on.wait(10)

    started = threading.Event()
    task = Beside().start(work)
    assert started.wait(10)
    went_on.set()
    ident, waited = task.result()
    assert (ident != threading.get_ident(), waited) == (True, True)
    assert task.result() == (ident, waited), "and once only"


def test_nothing_is_started_before_it_is_needed_and_the_thread_ends_with_its_owner() -> None:
    before = threads()
    beside = Beside()
    assert threads() == before
    assert [beside.start(lambda: 1).result() for _ in range(3)] == [1, 1, 1]
    assert threads() == before + 1
    del beside
    assert until(lambda: threads() == before)


def test_a_thread_that_is_busy_is_not_waited_for() -> None:
    beside, begun, over = Beside(), threading.Event(), threading.Event()

    def work() -> bool:
        begun.set()
        return over.wait(10)

    busy = beside.start(work)
    assert begun.wait(10)
    mine = beside.start(threading.get_ident)
    assert mine.result() == threading.get_ident()
    over.set()
    assert busy.result()


def test_what_it_raises_is_raised_where_the_result_is_wanted() -> None:
    def fails() -> None:
        raise LookupError("nothing")

    beside = Beside()
    for task in (beside.start(fails), Task(fails)):
        with pytest.raises(LookupError, match="nothing"):
            task.result()
    assert beside.start(lambda: 2).result() == 2, "the thread goes on"


def test_many_threads_share_it() -> None:
    beside = Beside()
    found: list[int] = []

    def ask(first: int) -> None:
        found.extend(beside.start(partial(pow, n, 2)).result() for n in range(first, first + 200))

    asking = [threading.Thread(target=ask, args=(first,)) for first in (0, 200, 400)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert sorted(found) == [n * n for n in range(600)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes that begin as a copy")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_process_has_one_of_its_own() -> None:
    beside = Beside()
    assert beside.start(lambda: 1).result() == 1
    child = os.fork()
    if not child:  # pragma: no cover - in the child
        os._exit(0 if beside.start(lambda: 7).result() == 7 else 1)
    assert os.waitpid(child, 0)[1] == 0
