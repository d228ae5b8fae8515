"""The server as an administrator starts it: a process that speaks TLS, or says why it does not."""

import os
import signal
import socket
import ssl
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo

from memfs.core.errors import UsageError
from memfs.team.protocol import ENDPOINTS, HEADER, PROTOCOL
from memfs.team.server import administration
from memfs.team.server.database import TeamDatabase, UnpreparedError, connect
from memfs.team.server.program import ServerSettings, TeamServer
from tests.service import running
from tests.team.certificates import lock_key, make_certificate
from tests.team.developers import Developer
from tests.team.teams import Member, ServerProcess, Team, make_push

HOST = "127.0.0.1"
DATABASE = "postgresql://me@127.0.0.1/none"
WITH_VECTORS = pytest.mark.parametrize("postgres", ["vectors"], indirect=True)


@WITH_VECTORS
def test_the_server_speaks_tls_to_those_who_trust_its_authority(team: Team, tmp_path: Path) -> None:
    authority = make_certificate(tmp_path / "authority.pem", "authority.example.com")
    own = make_certificate(tmp_path / "own.pem", HOST, authority=authority)
    other = make_certificate(tmp_path / "other.pem", HOST)
    token = team.add("ana", shop="writer").token
    ana = Developer(tmp_path, "ana")
    ana.say("The checkout fails with StaleLeaseError", "Renew the lease inside the lock.")
    log = tmp_path / "log"
    with ServerProcess(team.state.service, log, "--certificate", own, "--key", own) as server:
        refused = ana.join(server.url, token, "--ca", other)
        assert "is not trusted: unable to get local issuer certificate" in refused.stderr
        plain = ana.join(server.url.replace("https:", "http:"), token)
        assert "cannot be reached: the server closed the connection" in plain.stderr
        assert server.read_log().count("\n") == 1  # nobody's request came through
        assert ana.join(server.url, token, "--ca", authority).returncode == 0
        assert "sent 2 messages" in ana.run("team", "share", "--project", "-y").stderr
        assert ana.run("search", "StaleLeaseError", "--team").stderr == ""
        assert server.stop() == 0
        assert '"/v1/search", "status": 200' in server.read_log()
        assert "Traceback" not in server.read_log()
    assert team.count() == 2


def refuse(**settings: object) -> UsageError:
    with pytest.raises(UsageError) as caught:
        TeamServer(ServerSettings(**({"database": DATABASE, "port": 0} | settings)))  # type: ignore[arg-type]
    return caught.value


def test_a_certificate_that_cannot_be_used_is_named_before_anything_is_served(
    tmp_path: Path,
) -> None:
    own, other = (make_certificate(tmp_path / name, HOST) for name in ("own.pem", "other.pem"))
    nothing, text = str(tmp_path / "none.pem"), tmp_path / "text.pem"
    text.write_text("hello")
    bare = tmp_path / "bare.pem"
    bare.write_text(Path(own).read_text().partition("-----BEGIN PRIVATE")[0])
    locked = lock_key(Path(other), tmp_path / "locked.pem")
    for certificate, key, told in (
        (nothing, "", f"cannot read {nothing}: No such file or directory"),
        (own, nothing, f"cannot read {nothing}: No such file or directory"),
        ("", own, f"the private key {own} was given without a certificate"),
        (str(text), "", f"cannot use TLS with {text}"),
        (str(bare), "", f"cannot use TLS with {bare}"),
        (own, other, f"{other} is not the private key of the certificate {own}"),
        (other, locked, "the key has a passphrase, which the server cannot ask for"),
    ):
        assert refuse(certificate=certificate, key=key).message == told


def test_what_is_no_address_of_a_database_is_refused_without_repeating_it() -> None:
    address = "host=/tmp password=se cret"
    with pytest.raises(UsageError) as caught:
        connect(address)
    for error in (refuse(database=address), caught.value):
        assert error.message == "the given database address is not a PostgreSQL address"
        assert "cret" not in error.message + error.hint


@WITH_VECTORS
def test_a_database_that_is_not_prepared_is_said_to_be_so(own_team: Team) -> None:
    ana = own_team.add("ana", shop="writer")
    with connect(own_team.address) as admin:
        admin.execute("DROP ROLE IF EXISTS stranger; CREATE ROLE stranger LOGIN")
    stranger = make_conninfo(own_team.address, user="stranger")
    for address, message in (
        (own_team.postgres.make_database(), "this database has no team yet"),
        (stranger, "this database login lacks the necessary permissions"),
    ):
        database = TeamDatabase(address, connections=1)
        database.open()
        with pytest.raises(UnpreparedError, match=message):
            database.describe()
        database.close()
    with administration.open_administration(own_team.address) as admin:
        admin.execute("DROP FUNCTION describe")
        admin.execute("DROP FUNCTION push")
    health, pushed = ana.ask("GET", "/v1/health"), ana.push(1, ["which port?"])
    assert (health.status, pushed.status) == (503, 503)
    assert health.body["status"] == "the database was set up by another version of memfs"
    assert pushed.body == {
        "error": "the database was set up by another version of memfs",
        "hint": "ask the server's administrator to run memfs team init",
    }


def test_a_port_that_is_taken_is_an_error_of_the_system() -> None:
    with socket.create_server((HOST, 0)) as taken, pytest.raises(OSError, match="in use"):
        TeamServer(ServerSettings(DATABASE, port=taken.getsockname()[1]))


@WITH_VECTORS
def test_clients_of_another_version_and_those_that_go_away_change_nothing(
    team: Team, tmp_path: Path
) -> None:
    token = team.add("ana", shop="writer").token
    push = make_push(1, ["which port?", "Port 7741."])
    half = (
        f"POST /v1/push HTTP/1.1\r\nHost: team\r\n{HEADER}: {PROTOCOL}\r\n"
        f'Authorization: Bearer {token}\r\nContent-Length: 999\r\n\r\n{{"project"'
    )
    newer = "ask the server's administrator to update the server"
    hints = {"0": "update memfs", "": "update memfs", "2": newer, "99999999": newer}
    with ServerProcess(team.state.service, tmp_path / "log") as server:
        ana = Member(server.port, token)
        for spoken, hint in hints.items():
            for end in ENDPOINTS:
                body = push if end.takes else None
                answer = ana.ask(end.method, end.path, body, {HEADER: spoken})
                assert (answer.status, answer.body["hint"]) == (426, hint)
                assert answer.body["error"].startswith("this server uses protocol version 1")
        with socket.create_connection((HOST, server.port)) as connection:
            connection.sendall(half.encode())
        running.until(lambda: '"status": 499' in server.read_log())
        assert team.count() == 0
        assert ana.ask("POST", "/v1/push", push).body["stored"] == 2
        assert server.stop() == 0
    assert '"failed"' not in server.read_log()


@WITH_VECTORS
def test_a_log_that_nobody_reads_any_more_fails_no_request(team: Team, tmp_path: Path) -> None:
    token = team.add("ana", shop="writer").token
    log = tmp_path / "log"
    os.mkfifo(log)
    reader = os.open(log, os.O_RDONLY | os.O_NONBLOCK)
    with ServerProcess(team.state.service, log) as server:
        assert Member(server.port, token).ask("GET", "/v1/health").status == 200
        os.close(reader)
        answer = Member(server.port, token).push(1, ["which port?"])
        assert (answer.status, team.count()) == (200, 1)


@pytest.mark.thorough  # over five seconds: a server that is stopped waits so long for its requests
@WITH_VECTORS
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_server_that_is_stopped_tells_those_whom_it_cannot_serve_any_more(
    team: Team, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    ana = team.add("ana", shop="writer")
    ana.push(1, ["which port?"])
    answers = []
    with ServerProcess(team.state.service, tmp_path / "log") as server:
        member = Member(server.port, ana.token)
        thread = threading.Thread(target=lambda: answers.append(member.push(1, ["Port 7741."])))
        with administration.open_administration(team.address) as admin:
            admin.execute("BEGIN")
            admin.execute("LOCK TABLE message IN ACCESS EXCLUSIVE MODE")
            thread.start()
            running.until(lambda: "active" in team.list_connections())
            assert server.stop(number) == code
            thread.join()
            assert "active" not in team.list_connections()
            admin.execute("ROLLBACK")
    (answer,) = answers
    assert (answer.status, answer.body["error"]) == (503, "the server is shutting down")
    assert "Traceback" not in server.read_log()
    assert team.count() == 1
    assert ana.push(1, ["Port 7741."]).body["stored"] == 1


@WITH_VECTORS
def test_a_request_that_does_not_come_in_time_loses_its_connection(
    team: Team, tmp_path: Path
) -> None:
    token = team.add("ana", shop="writer").token
    health = "GET /v1/health HTTP/1.1\r\nHost: team\r\n\r\n"
    known = f"{HEADER}: {PROTOCOL}\r\nAuthorization: Bearer {token}\r\n"
    times = ("--header-time", "0.3", "--body-time", "0.3")
    with ServerProcess(team.state.service, tmp_path / "log", *times) as server:
        for length in (
            "",
            "Content-Length: 9999\r\n\r\n{",
            "Transfer-Encoding: chunked\r\n\r\nfff\r\n{",
        ):
            for more in ("", known):
                begin = f"POST /v1/push HTTP/1.1\r\n{more}Host: team\r\n{length}"
                for text in ("", begin, health + begin):
                    with socket.create_connection((HOST, server.port), timeout=30) as connection:
                        connection.sendall(text.encode())
                        assert is_ended(connection)
        assert Member(server.port, token).push(1, ["which port?"]).status == 200


def is_ended(connection: socket.socket) -> bool:
    """Send one byte after the other, and tell whether the server ends the connection."""
    with suppress(OSError):
        for _ in range(200):
            connection.sendall(b"x")
            time.sleep(0.05)
        return False
    return True


@WITH_VECTORS
@pytest.mark.parametrize(
    ("tls", "sent"),
    [(False, b"POST /v1/push HTTP/1.1\r\n"), (True, b""), (True, b"\x16\x03\x01\x02\x00\x01")],
    ids=["half a request", "no handshake", "half a handshake"],
)
def test_an_address_has_so_many_connections_and_its_half_requests_go_first(
    team: Team, tmp_path: Path, tls: bool, sent: bytes
) -> None:
    token = team.add("ana", shop="writer").token
    own = make_certificate(tmp_path / "own.pem", HOST)
    options = ["--connections", "5", *(["--certificate", own, "--key", own] if tls else [])]
    with (
        ServerProcess(team.state.service, tmp_path / "log", *options) as server,
        ExitStack() as stack,
    ):
        opened = []
        for _ in range(20):
            connection = socket.create_connection((HOST, server.port), timeout=30)
            opened.append(stack.enter_context(connection))
            connection.sendall(sent)
        if tls:
            context = ssl.create_default_context(cafile=own)
            with context.wrap_socket(
                socket.create_connection((HOST, server.port), timeout=30), server_hostname=HOST
            ) as connection:
                connection.sendall(b"GET /v1/health HTTP/1.1\r\nHost: team\r\n\r\n")
                assert connection.recv(20).startswith(b"HTTP/1.1 200")
        else:
            assert Member(server.port, token).push(1, ["which port?"]).status == 200
        for connection in opened[:15]:
            with suppress(ConnectionError):
                assert connection.recv(1) == b""
