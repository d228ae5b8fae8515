"""Nothing that a session is to be told is lost, whoever dies."""

import os
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memfs.ipc import client, service_status
from memfs.ipc.client import HookCall
from memfs.ipc.service_status import ServiceStatus
from memfs.ops import status
from memfs.ops.install import commands
from memfs.recall import index_sources
from memfs.store import prompt_log, spool, trust
from memfs.store.blocks import Place
from tests.hosts.transcript_lines import user
from tests.service import running
from tests.service.running import Command, answered, asked, changed, hook, payload


@pytest.fixture(params=["python", "python, short path"])
def by(
    request: pytest.FixtureRequest, place: Place, home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Command]:
    """What a host runs as hook. The launcher knows short paths alone."""
    if request.param == "python":
        yield commands.hook
        return
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        shutil.copytree(home / ".agent-memory", f"{folder}/user")
        monkeypatch.setenv("MEMFS_HOME", f"{folder}/user")
        assert place.project
        trust.grant_trust(place.project)
        yield commands.hook
        running.end_all(home)


@pytest.mark.usefixtures("warm")
def test_a_session_that_was_shown_nothing_is_left_to_the_hook(repo: Path) -> None:
    assert asked(payload(repo, "UserPromptSubmit", "go on")) is None
    assert running.begins(hook(payload(repo, "UserPromptSubmit", "go on")))
    assert answered(payload(repo, "UserPromptSubmit", "go on")) == ""


@pytest.mark.usefixtures("warm")
def test_who_dies_before_the_answer_was_taken_gets_it_again(place: Place, repo: Path) -> None:
    hook(payload(repo, "SessionStart"))
    changed(place, "Timeouts are 5 seconds.")
    prompt = payload(repo, "UserPromptSubmit", "go on with it")
    for received in (False, True):
        line = client.connect(running.LONG)
        assert line
        line.send(client.format_question("hook", HookCall(["claude"], prompt).list_words(), prompt))
        if received:
            assert b"Timeouts" in line.receive()
        line.close()
    assert "+ Timeouts are 5 seconds." in answered(prompt)


@pytest.mark.usefixtures("warm")
def test_two_hooks_of_one_prompt_are_told_once(place: Place, repo: Path) -> None:
    hook(payload(repo, "SessionStart"))
    changed(place, "Timeouts are 5 seconds.")
    prompt = payload(repo, "UserPromptSubmit", "go on with it")
    told: list[str | None] = []
    threads = [threading.Thread(target=lambda: told.append(asked(prompt))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(running.LONG)
    assert sorted(str(each).count("+ Timeouts are 5 seconds.") for each in told) == [0, 0, 0, 0, 1]


@pytest.mark.usefixtures("by", "warm")
def test_a_hook_whose_output_is_closed_has_told_nothing(
    place: Place, repo: Path, by: Command
) -> None:
    hook(payload(repo, "SessionStart"))
    changed(place, "Timeouts are 5 seconds.")
    reader, writer = os.pipe()
    os.close(reader)
    prompt = payload(repo, "UserPromptSubmit", "go on with it")
    running.process(prompt, writer, by)
    os.close(writer)
    # The service's answer is told again; in its own process the hook forgets all that was told.
    assert "Timeouts are 5 seconds." in hook(prompt)


@pytest.mark.usefixtures("warm")
def test_what_was_told_is_noted_before_the_next_prompt_is_answered(
    place: Place, repo: Path
) -> None:
    hook(payload(repo, "SessionStart"))
    prompt = payload(repo, "UserPromptSubmit", "go on with it")
    assert answered(prompt) == ""
    for number in range(5):
        changed(place, f"Rule {number}.")
        assert f"+ Rule {number}." in answered(prompt)
        assert answered(prompt) == ""


def test_a_service_that_is_killed_is_there_again_after_the_next_hook(
    by: Command, warm: ServiceStatus, place: Place, repo: Path
) -> None:
    hook(payload(repo, "SessionStart"))
    os.kill(warm.process, signal.SIGKILL)
    running.until(running.over)
    changed(place, "Timeouts are 5 seconds.")
    prompt = payload(repo, "UserPromptSubmit", "go on with it")
    assert "Timeouts" in running.process(prompt, by=by)
    found = running.until(service_status.load_status)
    assert found.process != warm.process
    assert answered(prompt) == ""


def test_a_service_that_dies_over_a_question_is_there_again(
    place: Place, repo: Path, home: Path, by: Command
) -> None:
    hook(payload(repo, "SessionStart"))
    running.until(service_status.load_status)
    running.end_all(home)
    running.until(running.over)
    changed(place, "Timeouts are 5 seconds.")
    where = client.address()
    with socket.socket(socket.AF_UNIX) as dying:
        dying.bind(str(where))
        dying.listen()

        def die() -> None:
            line = dying.accept()[0]
            dying.close()
            line.close()

        thread = threading.Thread(target=die)
        thread.start()
        prompt = payload(repo, "UserPromptSubmit", "go on with it")
        assert "Timeouts" in running.process(prompt, by=by)
        thread.join()
    assert running.until(service_status.load_status)


def test_a_service_that_hangs_costs_a_prompt_a_moment(
    by: Command, warm: ServiceStatus, place: Place, repo: Path
) -> None:
    index_sources.sync(place, embed=False)
    hook(payload(repo, "SessionStart"))
    changed(place, "Timeouts are 5 seconds.")
    running.suspend(warm.process)
    prompt = payload(repo, "UserPromptSubmit", "go on with it")
    try:
        assert "Timeouts" in running.process(prompt, by=by)
    finally:
        os.kill(warm.process, signal.SIGCONT)
    (record,) = prompt_log.read(place.home, 5)
    assert record.by_words == "the service did not answer within 0.1 seconds"
    found = status.run(place, "/")
    assert (found.by_words, found.prompts) == (1, 1)
    # What it does now, with a question that nobody waits for, changes nothing.
    assert answered(prompt) == ""
    changed(place, "Another rule.")
    told = answered(prompt)
    assert "Another rule." in told
    assert not running.begins(told)


@pytest.mark.thorough
@pytest.mark.usefixtures("by", "warm")
def test_killed_at_any_moment_it_loses_and_doubles_nothing(
    place: Place, repo: Path, home: Path, tmp_path: Path, by: Command
) -> None:
    transcript = tmp_path / "t.jsonl"
    hook(payload(repo, "SessionStart"))
    told: list[str] = []
    done = threading.Event()

    def killing() -> None:
        while not done.wait(0.15):
            found = service_status.load_status()
            if found:
                os.kill(found.process, signal.SIGKILL)

    killer = threading.Thread(target=killing)
    killer.start()
    try:
        for number in range(6):
            changed(place, f"Rule {number:03}.")
            told.append(running.process(payload(repo, "UserPromptSubmit", "go on with it"), by=by))
            with transcript.open("ab") as file:
                file.write(user(f"message {number:03}", f"u{number}", cwd=str(repo)))
            running.process(payload(repo, "Stop", transcript_path=str(transcript)), by=by)
    finally:
        done.set()
        killer.join()
    told.append(running.process(payload(repo, "UserPromptSubmit", "go on with it"), by=by))
    assert all(any(f"Rule {number:03}." in text for text in told) for number in range(6))
    running.begin()
    client.ask("hold", [str(repo)], wait=running.LONG)
    recall = place.home.local + "/recall/claude"

    def said() -> str:
        return "".join(path.read_text() for path in Path(recall).glob("*.jsonl"))

    running.until(lambda: not spool.list_notes(place.home) and "message 005" in said())
    assert [said().count(f"message {number:03}") for number in range(6)] == [1] * 6
    assert "Traceback" not in running.log(home)


@pytest.mark.thorough
def test_a_worker_that_is_killed_is_replaced(
    warm: ServiceStatus, place: Place, repo: Path, home: Path, tmp_path: Path
) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_bytes(
        b"".join(
            user(f"message {n:04} " + "word " * 400, f"u{n}", cwd=str(repo)) for n in range(4000)
        )
    )
    hook(payload(repo, "Stop", transcript_path=str(transcript)))
    for _ in range(2):
        [worker] = running.until(lambda: [one for one in running.ours(home) if one != warm.process])
        os.kill(worker, signal.SIGKILL)
        running.until(lambda gone=worker: gone not in running.ours(home))  # type: ignore[misc]
    running.until(lambda: not spool.list_notes(place.home))
    [path] = Path(place.home.local + "/recall/claude").glob("*.jsonl")
    assert path.read_text().count('"message ') == 4000
