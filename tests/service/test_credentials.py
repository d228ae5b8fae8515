"""Whoever is not this user is not answered."""

import os
import socket
from collections.abc import Iterator

import pytest

from memfs.ipc import client, service_status
from memfs.service import server
from tests.service import running


@pytest.fixture
def connection() -> Iterator[socket.socket]:
    here, there = socket.socketpair(socket.AF_UNIX)
    with here, there:
        yield here


def test_a_process_of_ours_is_ours(connection: socket.socket) -> None:
    assert server.is_same_user(connection)


def test_one_of_another_user_is_not(
    connection: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert not server.is_same_user(connection)


def test_who_cannot_be_told_is_not(connection: socket.socket) -> None:
    connection.close()
    assert not server.is_same_user(connection)


@pytest.mark.usefixtures("place")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_second_user_who_gets_to_the_socket_is_not_answered(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with running.inside():
        assert running.until(service_status.load_status)
        made = socket.socket(socket.AF_UNIX)
        where = client.address()
        assert isinstance(where, str)
        # Root's folders are closed to the other: it is given the folder, open.
        folder = os.open(os.path.dirname(where), os.O_RDONLY)
        os.chmod(where, 0o666)  # noqa: S103 - that is what is tested
        asked = client.format_question("status", [], b"")
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.fchdir(folder)
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
                made.settimeout(5)
                made.connect(os.path.basename(where))
                made.sendall(len(asked).to_bytes(4, "big") + asked)
                code = 0 if made.recv(1) == b"" else 2
            except ConnectionResetError:
                code = 0
            except PermissionError:
                code = 3
            finally:
                os._exit(code)
        made.close()
        os.close(folder)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, 3)
        assert service_status.load_status()
