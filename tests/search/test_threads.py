"""Part of a search is done by another thread, where searches follow each other."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from memfs.search import threads


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the last call was ago, it is not long."""
    threads.start_threads()
    monkeypatch.setattr(threads, "_SOON", float("inf"))


def elsewhere() -> bool:
    """Tell whether a call is begun in another thread before its result is asked for."""
    begun = threading.Event()

    def call() -> int:
        begun.set()
        return threading.get_ident()

    coming = threads.begin_call(call)
    return begun.wait(30) and coming() not in (0, threading.get_ident())


@pytest.mark.usefixtures("soon")
def test_a_call_is_begun_in_another_thread_before_its_result_is_asked_for() -> None:
    assert elsewhere()


@pytest.mark.usefixtures("soon")
def test_what_it_raises_is_raised_where_its_result_is_asked_for() -> None:
    coming = threads.begin_call(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        coming()


@pytest.mark.usefixtures("soon")
def test_a_process_that_searches_once_has_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_threads", None)
    assert threads.begin_call(threading.get_ident)() == threading.get_ident()


def test_after_a_rest_nobody_is_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_SOON", -1.0)
    assert threads.begin_call(threading.get_ident)() == threading.get_ident()


@pytest.mark.usefixtures("soon")
def test_a_call_that_no_thread_has_come_to_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, end = ThreadPoolExecutor(1), threading.Event()
    monkeypatch.setattr(threads, "_threads", one)
    busy = threads.begin_call(end.wait)
    calls: list[int] = []
    threads.begin_call(lambda: calls.append(threading.get_ident()))()
    end.set()
    assert busy()
    one.shutdown()
    assert calls == [threading.get_ident()]


@pytest.mark.usefixtures("soon")
def test_where_there_can_be_no_thread_the_caller_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = ThreadPoolExecutor(1)
    ended.shutdown()
    monkeypatch.setattr(threads, "_threads", ended)
    assert threads.begin_call(threading.get_ident)() == threading.get_ident()
    assert threads._threads is not ended  # which would keep what it was given


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.usefixtures("soon")
def test_a_forked_process_has_threads_of_its_own() -> None:
    assert elsewhere()
    child = os.fork()
    if not child:
        os._exit(0 if elsewhere() else 1)
    assert os.waitpid(child, 0)[1] == 0
