"""Who asks again and again keeps the line open; whatever becomes of it, each gets its own answer."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from memfs.ipc import client
from memfs.ipc.client import PersistentClient
from memfs.ipc.service_status import ServiceStatus
from memfs.service import server
from memfs.store.blocks import Place
from tests.service import running
from tests.service.running import changed, hook, payload

WORDS = ["0", "claude", "mcp"]


def prompt(line: PersistentClient, repo: Path, session: str) -> str:
    """Ask with a prompt that brings what was changed; return what came."""
    told: list[bytes] = []
    line.ask(WORDS, payload(repo, "UserPromptSubmit", "go on with it", session), told.append)
    assert len(told) == 1
    return running.context(told[0])


@pytest.fixture
def line(place: Place, repo: Path) -> Iterator[PersistentClient]:
    """A line of one who was not answered yet; two sessions have begun, and a block was changed."""
    for session in ("s1", "s2"):
        hook(payload(repo, "SessionStart", session=session))
    changed(place, "Name: Alice", "human")
    with closing(PersistentClient("hook", running.LONG)) as made:
        yield made


def test_one_line_brings_many_questions(
    warm: ServiceStatus, place: Place, repo: Path, line: PersistentClient
) -> None:
    assert "+ Name: Alice" in prompt(line, repo, "s1")
    opened = line._connection
    assert prompt(line, repo, "s1") == ""
    assert "+ Name: Alice" in prompt(line, repo, "s2")
    changed(place, "Team: red", "human")
    assert "+ Team: red" in prompt(line, repo, "s1")
    assert line._connection is opened is not None
    assert warm.process


def test_another_service_is_asked_when_the_first_has_ended(
    warm: ServiceStatus, repo: Path, line: PersistentClient
) -> None:
    assert "+ Name: Alice" in prompt(line, repo, "s1")
    os.kill(warm.process, signal.SIGKILL)
    assert running.begin().process != warm.process
    assert "+ Name: Alice" in prompt(line, repo, "s2")


@pytest.mark.usefixtures("warm")
def test_without_a_service_the_asker_does_the_work(
    home: Path, line: PersistentClient, repo: Path
) -> None:
    assert "+ Name: Alice" in prompt(line, repo, "s1")
    running.end_all(home)
    told: list[bytes] = []
    body = payload(repo, "UserPromptSubmit", "go on with it", "s2")
    assert line.ask(WORDS, body, told.append) is None
    assert told == []


def test_an_answer_that_comes_late_is_not_that_to_the_next_question(
    warm: ServiceStatus, repo: Path, line: PersistentClient
) -> None:
    assert "+ Name: Alice" in prompt(line, repo, "s2")
    line._wait = 0.2
    running.suspend(warm.process)
    try:
        with pytest.raises(OSError, match="time"):
            prompt(line, repo, "s1")
    finally:
        os.kill(warm.process, signal.SIGCONT)
    line._wait = running.LONG
    assert prompt(line, repo, "s2") == ""
    assert "+ Name: Alice" in prompt(line, repo, "s1"), "nobody took the answer before"


@pytest.mark.parametrize(("name", "value", "stay"), [("_MOST", 5, 2), ("_IDLE_TIMEOUT", 0.0, 0)])
def test_a_service_that_keeps_few_lines_open_answers_on_new_ones(
    place: Place, repo: Path, name: str, value: float, stay: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of five that it answers at once, two may stay."""
    assert place.project
    monkeypatch.setattr(server, name, value)
    with running.inside() as found, ExitStack() as open_ones:
        running.until(client.is_listening)
        for session in ("s1", "s2"):
            hook(payload(repo, "SessionStart", session=session))
        changed(place, "Name: Alice", "human")
        lines = [open_ones.enter_context(closing(PersistentClient("status", running.LONG)))]
        lines += [
            open_ones.enter_context(closing(PersistentClient("hook", running.LONG))) for _ in "12"
        ]
        assert lines[0].ask([], b"", lambda _: None)
        for line, session in zip(lines[1:], ("s1", "s2"), strict=True):
            assert "+ Name: Alice" in prompt(line, repo, session)
        running.until(lambda: found._active_connections <= stay)
        changed(place, "Team: red", "human")
        for line, session in zip(lines[1:], ("s1", "s2"), strict=True):
            assert "+ Team: red" in prompt(line, repo, session)
        running.until(lambda: found._active_connections <= stay)
