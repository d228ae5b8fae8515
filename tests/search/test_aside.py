"""Part of a search is done by another thread, where searches follow each other."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from memfs.search import aside


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the last call was ago, it is not long."""
    aside.ready()
    monkeypatch.setattr(aside, "_SOON", float("inf"))


def elsewhere() -> bool:
    """Tell whether a call is begun in another thread before its result is asked for."""
    begun = threading.Event()

    def call() -> int:
        begun.set()
        return threading.get_ident()

    coming = aside.begin(call)
    return begun.wait(30) and coming() not in (0, threading.get_ident())


@pytest.mark.usefixtures("soon")
def test_a_call_is_begun_in_another_thread_before_its_result_is_asked_for() -> None:
    assert elsewhere()


@pytest.mark.usefixtures("soon")
def test_what_it_raises_is_raised_where_its_result_is_asked_for() -> None:
    coming = aside.begin(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        coming()


@pytest.mark.usefixtures("soon")
def test_a_process_that_searches_once_has_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "_threads", None)
    assert aside.begin(threading.get_ident)() == threading.get_ident()


def test_after_a_rest_nobody_is_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "_SOON", -1.0)
    assert aside.begin(threading.get_ident)() == threading.get_ident()


@pytest.mark.usefixtures("soon")
def test_a_call_that_no_thread_has_come_to_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, end = ThreadPoolExecutor(1), threading.Event()
    monkeypatch.setattr(aside, "_threads", one)
    busy = aside.begin(end.wait)
    calls: list[int] = []
    aside.begin(lambda: calls.append(threading.get_ident()))()
    end.set()
    assert busy()
    one.shutdown()
    assert calls == [threading.get_ident()]


@pytest.mark.usefixtures("soon")
def test_where_there_can_be_no_thread_the_caller_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = ThreadPoolExecutor(1)
    ended.shutdown()
    monkeypatch.setattr(aside, "_threads", ended)
    assert aside.begin(threading.get_ident)() == threading.get_ident()
    assert aside._threads is not ended  # which would keep what it was given


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.usefixtures("soon")
def test_a_forked_process_has_threads_of_its_own() -> None:
    assert elsewhere()
    child = os.fork()
    if not child:
        os._exit(0 if elsewhere() else 1)
    assert os.waitpid(child, 0)[1] == 0
