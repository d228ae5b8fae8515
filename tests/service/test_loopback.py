"""Where the system has no sockets that are files, it listens on loopback, and a token tells who asks."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from memfs.ipc import service_client, service_status
from tests.service import running
from tests.service.running import asked, hook, payload


@pytest.fixture(autouse=True)
def loopback(place: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_client, "UNIX", False)
    monkeypatch.setenv("MEMFS_SERVICE_MODE", "off")  # none in a process of its own


def test_it_answers_who_knows_the_token(repo: Path, home: Path) -> None:
    assert not service_client.is_listening()
    with running.inside():
        note = home / ".agent-memory/local/service.port"
        assert running.until(service_status.load_status)
        assert note.stat().st_mode & 0o777 == 0o600
        assert running.begins(hook(payload(repo, "SessionStart")))
        assert asked(payload(repo, "UserPromptSubmit", "go on")) == ""
    assert not note.exists()
    assert not service_client.is_listening()


@pytest.mark.parametrize("token", ["", "-", "0" * 32, "²" * 32])
def test_it_does_not_answer_who_does_not(token: str, home: Path) -> None:
    with running.inside():
        assert running.until(service_status.load_status)
        port, _ = service_client.read_port_note()
        note = home / ".agent-memory/local/service.port"
        right = note.read_bytes()
        note.write_bytes(f"{port} {token}\n".encode())
        assert service_status.load_status() is None
        note.write_bytes(right)
        assert service_status.load_status()


def test_it_listens_on_this_machine_alone() -> None:
    with running.inside() as inside:
        assert inside._listener._socket.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize("left", ["", "x y", "99999999 token", "0 token", "²3 token", "\xff"])
def test_a_note_that_says_nothing_is_no_service(left: str, home: Path) -> None:
    note = home / ".agent-memory/local/service.port"
    note.parent.mkdir(exist_ok=True)
    note.write_bytes(left.encode("latin-1", "ignore"))
    assert service_status.load_status() is None


def test_a_port_of_one_that_died_is_no_service(home: Path) -> None:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        port = made.getsockname()[1]
    note = home / ".agent-memory/local/service.port"
    note.parent.mkdir(exist_ok=True)
    note.write_text(f"{port} token\n")
    assert service_status.load_status() is None
    assert os.path.exists(note)
