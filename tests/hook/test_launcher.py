"""The launcher asks the service of its user, takes its answer whole, and else does the work."""

import os
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memfs.ipc import client
from memfs.ipc.client import Connection
from memfs.ops.install import commands

LONG = 10.0  # seconds
BODY = '{"prompt": "größer"}'.encode() + b"\xff\n\n\0"
STOP = b'{"hook_event_name": "Stop"}'
Answer = Callable[[Connection], object]


class Listening:
    """A socket where the service would listen, and what comes in there."""

    def __init__(self, user: Path) -> None:
        self.local = user / "local"
        self.local.mkdir(mode=0o700)
        self.frames: list[bytes] = []
        self.taken: list[bool] = []
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(self.local / "service.sock"))
        self.socket.listen()
        self._threads: list[threading.Thread] = []

    def answer(self, give: Answer) -> None:
        """Answer the next who asks."""
        thread = threading.Thread(target=self._once, args=(give,))
        thread.start()
        self._threads.append(thread)

    def close(self) -> None:
        for thread in self._threads:
            thread.join(LONG)
        self.socket.close()

    def _once(self, give: Answer) -> None:
        connection = Connection(self.socket.accept()[0], LONG)
        try:
            self.frames.append(connection.receive())
            give(connection)
            self.taken.append(connection.await_confirmation())
        except OSError:  # who asked, asks no more
            return
        finally:
            connection.close()


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listening]:
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="memfs-") as folder:
        monkeypatch.setenv("MEMFS_HOME", folder)
        listening = Listening(Path(folder))
        yield listening
        listening.close()


def run(stdin: bytes = BODY, *words: str) -> bytes:
    """Return what the hook prints; it fails by nothing, and says nothing on stderr."""
    command = commands.python(*(words or ("claude", "mcp")))
    done = subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=30)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def saying(answer: bytes) -> Answer:
    return lambda connection: connection.send(answer)


@pytest.mark.parametrize("size", [0, 1, 100_000, 5_000_000])
def test_an_answer_is_printed_and_then_taken(service: Listening, size: int) -> None:
    answer = os.urandom(size)
    service.answer(saying(client.MINE + answer))
    assert run() == answer
    service.close()
    assert service.taken == [True]
    assert service.frames[0].endswith(b"\n\n" + BODY)


def test_an_answer_that_nobody_reads_is_not_taken(service: Listening) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    service.answer(saying(b"+told"))
    done = subprocess.run(
        commands.python("claude"), input=STOP, stdout=writer, stderr=-1, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
    service.close()
    assert service.taken == [False]


@pytest.mark.parametrize("answer", [client.YOURS, client.LEAVING, b""])
def test_what_the_service_leaves_is_done_here_and_not_asked_again(
    service: Listening, answer: bytes
) -> None:
    service.answer(saying(answer))
    assert run(STOP) == b""
    assert len(service.frames) == 1


def test_a_folder_that_others_may_write_to_is_not_asked(service: Listening) -> None:
    service.local.chmod(0o777)
    service.socket.setblocking(False)
    assert run(STOP) == b""
    with pytest.raises(BlockingIOError):
        service.socket.accept()


def test_a_link_to_another_socket_is_not_asked(service: Listening) -> None:
    """Through one, a prompt would go to whatever else this user has that listens."""
    path = service.local / "service.sock"
    other = service.local.parent / "agent.sock"
    path.rename(other)
    path.symlink_to(other)
    service.socket.setblocking(False)
    assert run(STOP) == b""
    with pytest.raises(BlockingIOError):
        service.socket.accept()


def test_in_assistants_that_memfs_runs_it_keeps_still(
    service: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(client.INSIDE, "1")
    assert run() == b""
    assert service.frames == []
