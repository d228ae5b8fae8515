"""There is one service, wherever it has to listen, and what it is sent harms nobody else."""

import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from memfs.ipc import client, service_status
from memfs.ipc.service_status import ServiceStatus
from memfs.ops import init
from memfs.ops import service as op
from memfs.service import server
from memfs.store.blocks import Place
from tests.service import running
from tests.service.running import asked, hook, payload


def listening() -> str:
    where = client.address()
    assert isinstance(where, str)
    return where


def test_a_socket_that_nobody_listens_on_is_taken_over(warm: ServiceStatus) -> None:
    os.kill(warm.process, signal.SIGKILL)
    running.until(lambda: client.ask("hold", [os.getcwd()]) is not None)
    found = running.until(service_status.load_status)
    assert found.process != warm.process


@pytest.mark.usefixtures("warm")
def test_its_socket_is_for_its_user_alone() -> None:
    status = os.stat(listening())
    assert status.st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(listening())).st_mode & 0o777 == 0o700


def test_a_home_with_a_long_path_has_its_socket_elsewhere(
    place: Place, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = home / ("d" * 60) / ("e" * 60) / ".agent-memory"
    shutil.copytree(f"{place.user.root if place.user else ''}", deep)
    monkeypatch.setenv("MEMFS_HOME", str(deep))
    found = running.begin()
    assert listening().startswith("/tmp/memfs-")  # noqa: S108
    assert len(os.fsencode(listening())) < 100
    assert running.begin().process == found.process
    assert op.stop()
    assert not os.path.exists(listening())


@pytest.mark.usefixtures("place")
def test_a_home_elsewhere_has_a_service_of_its_own(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = running.begin()
    monkeypatch.setenv("MEMFS_HOME", str(home / "m"))
    shutil.copytree(home / ".agent-memory", home / "m", ignore=shutil.ignore_patterns("service.*"))
    assert service_status.load_status() is None
    second = running.begin()
    assert second.process != first.process


@pytest.mark.usefixtures("place")
def test_a_folder_that_others_write_to_is_no_place_for_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its path is short: the folder for long ones is that of all services of this user."""
    with tempfile.TemporaryDirectory(prefix="m") as short:
        shutil.copytree(home / ".agent-memory", short, dirs_exist_ok=True)
        monkeypatch.setenv("MEMFS_HOME", short)
        with running.inside():
            assert running.until(service_status.load_status)
            folder = os.path.dirname(listening())
            assert folder == os.path.realpath(f"{short}/local")
            os.chmod(folder, 0o777)  # noqa: S103 - that is what is tested
            assert not client.is_listening()
            assert service_status.load_status() is None
            os.chmod(folder, 0o700)
            assert service_status.load_status()


@pytest.mark.usefixtures("place")
def test_without_its_socket_it_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_TICK", 0.1)
    with running.inside() as inside:
        running.until(service_status.load_status)
        os.remove(listening())
        running.until(lambda: inside._leave)
        assert inside._leave == "its socket was removed"


def test_a_store_that_is_removed_is_not_made_again(
    warm: ServiceStatus, place: Place, repo: Path, home: Path
) -> None:
    hook(payload(repo, "SessionStart"))
    asked(payload(repo, "UserPromptSubmit", "go on with it"))
    running.until(lambda: list(repo.glob(".agent-memory/local/index/**/meta.json")))
    running.until(lambda: not (service_status.load_status() or warm).work)
    shutil.rmtree(repo / ".agent-memory")
    # The user's own store serves that folder now.
    assert asked(payload(repo, "UserPromptSubmit", "go on with it")) is None
    time.sleep(1)
    assert not list(repo.glob(".agent-memory*/**"))
    assert "Traceback" not in running.log(home)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("name", ["service.lock", "service.log", "service.sock"])
def test_a_local_folder_that_cannot_be_written_leaves_hooks_alone(home: Path, name: str) -> None:
    """A folder stands where it would have a file: root may write to all that is read-only."""
    path = listening() if name == "service.sock" else f"{home}/.agent-memory/local/{name}"
    os.makedirs(path, 0o700)
    assert client.start_service(wait=True) is (name != "service.lock")
    if name == "service.log":
        assert running.until(service_status.load_status)
    else:
        running.until(lambda: not running.ours(home))
        assert service_status.load_status() is None
    if name == "service.sock":
        os.rmdir(listening())
        assert "the service failed" in running.log(home)


HOSTILE = [
    b"",
    b"\0",
    b"\0\0\0",
    b"\0\0\0\0",
    b"\0\0\0\1x",
    b"\xff\xff\xff\xff" + b"x" * 100,
    b"\0\0\0\x08memfs-1\n",
    (1 << 20).to_bytes(4, "big") + b"h" * (1 << 20),
    (20).to_bytes(4, "big") + b"GET / HTTP/1.1\r\n\r\n??",
    b"\0\0\0\x0a" + b"\xff\xfe" * 5,
]


def connected() -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(running.LONG)
    for _ in range(200):
        try:
            made.connect(listening())
        except BlockingIOError:  # more wait to be let in than the system keeps
            time.sleep(0.01)
        else:
            return made
    raise AssertionError("it lets nobody in")


@pytest.mark.usefixtures("place")
def test_what_is_no_question_is_not_answered_and_harms_nobody(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with running.inside():
        for sent in HOSTILE:
            one = connected()
            one.sendall(sent)
            one.shutdown(socket.SHUT_WR)
            with suppress(ConnectionResetError):  # it did not read all of it
                assert one.recv(1) == b""
            one.close()
            assert service_status.load_status()
        for words in (["hook"], ["hook", ""], ["search", "x"], ["hold"], ["what"], ["hook", "no"]):
            line = client.connect(running.LONG)
            assert line
            line.send(client.format_question(words[0], words[1:], b"\xff{["))
            assert line.receive()[:1] in (client.YOURS, client.MINE)
            line.close()
        line = client.connect(running.LONG)
        assert line
        odd = client.format_question("status", [], b"").replace(b"0.1.0", b"\xb2.9" + b"9" * 9000)
        line.send(odd.replace(b"memfs-1\n-", b"memfs-1\n\xff"))
        with pytest.raises(OSError, match="closed the connection"):
            line.receive()
        line.close()
    assert "UnicodeEncodeError" not in capfd.readouterr().err


@pytest.mark.usefixtures("place")
def test_those_who_say_nothing_or_say_it_slowly_do_not_keep_others_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "_ASKED", 2 * running.LONG)
    monkeypatch.setattr(client, "ASKED", running.LONG)
    with running.inside() as inside:
        idle = [connected() for _ in range(200)]
        running.until(lambda: inside._active_connections == 200)
        assert service_status.load_status(), "those who say nothing have time"
        monkeypatch.setattr(server, "_ASKED", 1.0)
        idle_for_long = connected()
        slow = connected()
        ended = threading.Event()

        def drip() -> None:
            try:
                while True:
                    slow.sendall(b"\0")
                    time.sleep(0.1)
            except OSError:
                ended.set()

        writer = threading.Thread(target=drip)
        writer.start()
        for _ in range(10):
            assert service_status.load_status()
        # They have their time, also who says something now and then.
        assert idle_for_long.recv(1) == b""
        assert ended.wait(running.LONG)
        writer.join()
        for one in (*idle, idle_for_long, slow):
            one.close()


@pytest.mark.usefixtures("place")
def test_where_too_many_ask_the_last_do_their_own_work(monkeypatch: pytest.MonkeyPatch) -> None:
    with running.inside():
        assert running.until(service_status.load_status)
        monkeypatch.setattr(server, "_MOST", 4)
        idle = [connected() for _ in range(8)]
        running.until(lambda: client.ask("hold", ["."], wait=1.0) is None)
        for one in idle:
            one.close()
        assert running.until(service_status.load_status)


def test_a_user_without_a_store_has_no_service(home: Path) -> None:
    assert not client.start_service(wait=True)
    assert not client.is_listening()
    init.run(str(home), str(home))
    assert running.begin()
