"""Whatever a team's server does, its client returns an answer or raises one kind of error."""

import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memfs.core.errors import UsageError
from memfs.team.client import LARGEST, TeamClient, TeamError, check_token, parse_address
from memfs.team.protocol import (
    HEADER,
    Membership,
    PushReply,
    PushRequest,
    SharedMessage,
    SharedSession,
)
from tests.team.certificates import make_certificate
from tests.team.small_server import MEMBER, Answer, SmallServer, ok, serve, talk

TOKEN = "mft_0123456789"  # noqa: S105 - of no server
SOON, HANGS = 0.3, 30.0  # seconds


def me(_path: str, _body: object, _headers: object) -> Answer:
    return ok(MEMBER)


@pytest.fixture
def server() -> Iterator[SmallServer]:
    with serve(me) as found:
        yield found


def refused(address: str, ca: str = "", timeout: float = 5.0) -> TeamError:
    with pytest.raises(TeamError) as caught, TeamClient(address, TOKEN, ca, timeout) as client:
        client.ask(Membership)
    assert TOKEN not in caught.value.message + caught.value.hint
    return caught.value


def test_a_request_has_token_and_version_and_the_answer_is_a_class(server: SmallServer) -> None:
    with TeamClient(server.address, TOKEN) as client:
        server.handle = lambda *_: ok({**MEMBER, "colour": "blue"})  # of a newer server
        found = client.ask(Membership)
        assert (found.team, found.member, found.projects[0].name) == ("acme", "ada", "shop")
        server.handle = lambda *_: ok({"stored": 1, "known": 0, "retracted": 0})
        message = SharedMessage("0" * 32, 0, 3, "", "user", "Which port? \u2603")
        request = PushRequest(7, 12, "1", [SharedSession("claude", "s")], [message])
        assert client.ask(PushReply, request).stored == 1
    (path, _, headers), (_, body, _) = server.asked
    assert (path, headers["authorization"]) == ("/v1/me", f"Bearer {TOKEN}")
    assert headers[HEADER.lower()] == "1"
    assert body["messages"][0]["text"] == "Which port? \u2603"
    assert body["stamp"] == 12


def test_a_connection_that_was_closed_meanwhile_is_opened_again() -> None:
    def once(connection: socket.socket) -> None:
        connection.recv(65536)
        body = json.dumps(MEMBER).encode()
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        connection.close()

    with talk(once) as address, TeamClient(address, TOKEN) as client:
        for _ in range(3):
            assert client.ask(Membership).member == "ada"
            time.sleep(0.05)


@pytest.mark.parametrize(
    ("status", "away"),
    [(400, False), (401, False), (403, False), (413, False), (429, True), (503, True)],
)
def test_what_the_server_says_of_a_refusal_is_told(
    server: SmallServer, status: int, away: bool
) -> None:
    said = b'{"error": "no access", "hint": "ask Ada"}'
    server.handle = lambda *_: (status, {"Retry-After": "7"}, said)
    error = refused(server.address)
    assert (error.away, error.message, error.hint) == (away, "no access", "ask Ada")
    assert error.wait == (7.0 if away else 0.0)
    server.handle = lambda *_: (status, {"Retry-After": "soon"}, b"<html>")
    assert refused(server.address).away is away


def test_another_version_of_the_protocol_is_named_with_what_to_update(server: SmallServer) -> None:
    server.handle = lambda *_: (200, {HEADER: "2"}, b"{}")
    error = refused(server.address)
    assert (error.away, error.hint) == (False, "update memfs")
    assert error.message == ("the team server uses protocol version 2, this memfs uses version 1")
    server.handle = lambda *_: (426, {HEADER: "0"}, b"")
    assert refused(server.address).hint == ("ask the server's administrator to update the server")
    server.handle = lambda *_: (426, {}, b'{"error": "version 3 is spoken here"}')
    error = refused(server.address)
    assert (error.away, error.message) == (False, "version 3 is spoken here")


@pytest.mark.parametrize(
    "body", [b"", b"<html>hello</html>", b"[1]", b"{}", b'{"team": 1}', b"\xff\xfe", b"[" * 99999]
)
def test_what_is_no_answer_of_a_team_server_is_said_to_be_none(
    server: SmallServer, body: bytes
) -> None:
    server.handle = lambda *_: (200, {}, body)
    error = refused(server.address)
    assert (error.away, error.hint) == (True, "check the address")


def test_no_redirect_is_followed(server: SmallServer) -> None:
    with serve(me) as other:
        server.handle = lambda *_: (302, {"Location": other.address}, b"")
        error = refused(server.address)
        assert error.away
        assert other.address in error.message
        assert other.asked == []


def test_an_answer_that_is_too_long_is_not_taken(server: SmallServer) -> None:
    server.handle = lambda *_: (200, {}, b" " * (LARGEST + 1))
    assert "more than 8 MB" in refused(server.address).message


def test_one_that_is_gone_is_away() -> None:
    with talk(lambda _: None) as address:
        pass
    error = refused(address)
    assert (error.away, "refused" in error.message) == (True, True)


def drip(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"X-More: 1\r\n")
        time.sleep(0.02)


def half(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
    time.sleep(HANGS)


def hang(_connection: socket.socket) -> None:
    time.sleep(HANGS)


LATE = "did not answer within 0.3 s"


@pytest.mark.parametrize(
    ("raw", "scheme", "told"),
    [
        (lambda connection: connection.close(), "http:", "closed the connection|reset by peer"),
        (lambda connection: connection.sendall(b"220 mail\r\n" * 99), "http:", "not HTTP|reset"),
        (drip, "http:", f"{LATE}|not HTTP"),
        (half, "http:", LATE),
        (hang, "http:", LATE),
        (hang, "https:", LATE),  # no handshake comes
    ],
)
def test_however_badly_it_answers_a_request_ends_in_time(
    raw: Callable[[socket.socket], None], scheme: str, told: str
) -> None:
    with talk(raw) as address:
        began = time.monotonic()
        error = refused(address.replace("http:", scheme), timeout=SOON)
        assert time.monotonic() - began < HANGS
    assert error.away
    assert re.search(told, error.message)


def test_a_certificate_is_verified(tmp_path: Path) -> None:
    own = make_certificate(tmp_path / "own.pem", "127.0.0.1")
    with serve(me, own) as server:
        error = refused(server.address)
        assert (error.away, "certificate" in error.message) == (True, True)
        assert server.asked == []
        with TeamClient(server.address, TOKEN, own) as client:
            assert client.ask(Membership).member == "ada"
    other = make_certificate(tmp_path / "other.pem", "192.0.2.1")
    with serve(me, other) as server:
        assert "certificate" in refused(server.address, other).message
        assert refused(server.address.replace("https:", "http:")).away


@pytest.mark.parametrize("name", ["none.pem", "text.pem", "."])
def test_a_file_of_certificates_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "text.pem").write_text("hello")
    with pytest.raises(UsageError, match="cannot read certificates from"):
        TeamClient("https://127.0.0.1", TOKEN, str(tmp_path / name))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("https://Memory.Example.com/", "https://memory.example.com"),
        ("https://memory.example.com:8443/team/", "https://memory.example.com:8443/team"),
        ("https://b\u00fccher.example", "https://xn--bcher-kva.example"),
        ("http://localhost:8080", "http://localhost:8080"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("http://127.0.0.2", "http://127.0.0.2"),
    ],
)
def test_an_address_is_written_one_way(text: str, kept: str) -> None:
    assert str(parse_address(text)) == kept
    assert str(parse_address(kept)) == kept


@pytest.mark.parametrize(
    "text",
    [
        "",
        "memory.example.com",
        "http://memory.example.com",
        "http://10.0.0.1",
        "http://localhost.example.com",
        "ftp://memory.example.com",
        "https://",
        "https://ada:secret@memory.example.com",
        "https://memory.example.com/?token=1",
        "https://memory.example.com:99999",
        "https://[::1",
        "https://" + "a" * 300,
        "https://memory.example.com/\u2603",
    ],
)
def test_an_address_that_no_token_may_go_to_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_address(text)


@pytest.mark.parametrize("token", ["", " ", "a b", "a\nb: c", "\u2603", "x" * 999])
def test_what_is_no_token_is_not_sent(token: str) -> None:
    with pytest.raises(UsageError):
        check_token(token)
    assert check_token(f" {TOKEN}\n") == TOKEN
