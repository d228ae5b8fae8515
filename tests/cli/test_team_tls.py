"""A server whose certificate is wrong is told nothing, by any command, and each says why."""

import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memfs.store.blocks import Place
from memfs.team.upload import run_upload
from tests.cli.conftest import Run
from tests.ops.recorded_sessions import record
from tests.team.certificates import make_certificate
from tests.team.small_server import MEMBER, talk

TOKEN = "mft_0123456789abcdef"  # noqa: S105 - of no server
HERE, RUNS = "127.0.0.1", "ask the server's administrator to renew the certificate"
UNKNOWN = "run memfs team join with --ca FILE if your company has its own certificate authority"
ELSEWHERE = "check the address: the certificate is for another host"
WRONG = {
    "unknown": ("self-signed certificate", UNKNOWN),
    "expired": ("certificate has expired", RUNS),
    "another number": ("IP address mismatch, certificate is not valid for '127.0.0.1'", ELSEWHERE),
    "another name": ("IP address mismatch, certificate is not valid for '127.0.0.1'", ELSEWHERE),
}


class Recorder:
    """A server of TLS that says who one is. `heard` is all that clients told it after a handshake.

    `met` counts the clients that came; the certificate can be changed at any time.
    """

    def __init__(self, certificate: str) -> None:
        self.certificate, self.address = certificate, ""
        self.heard = b""
        self.met = 0

    def attend(self, connection: socket.socket) -> None:
        self.met += 1
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate)
        with context.wrap_socket(connection, server_side=True) as wrapped:
            while told := wrapped.recv(65536):
                self.heard += told
                body = json.dumps(MEMBER).encode()
                wrapped.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


@contextmanager
def recording(certificate: str) -> Iterator[Recorder]:
    recorder = Recorder(certificate)
    with talk(recorder.attend) as address:
        recorder.address = address.replace("http:", "https:")
        yield recorder


@pytest.fixture
def authority(tmp_path: Path) -> str:
    return make_certificate(tmp_path / "authority.pem", "authority.example.com")


@pytest.fixture
def server(tmp_path: Path, authority: str) -> Iterator[Recorder]:
    """A server with a certificate that the authority signed."""
    with recording(make_certificate(tmp_path / "good.pem", HERE, 1, authority)) as found:
        yield found


@pytest.fixture(
    params=[
        "unknown",
        "expired",
        "another name",
        pytest.param("another number", marks=pytest.mark.thorough),
    ]
)
def wrong(request: pytest.FixtureRequest, tmp_path: Path, authority: str) -> tuple[str, str, str]:
    """A wrong certificate, what is said of it, and the hint."""
    path = tmp_path / "wrong.pem"
    made = {
        "unknown": lambda: make_certificate(path, HERE),
        "expired": lambda: make_certificate(path, HERE, -1, authority),
        "another number": lambda: make_certificate(path, "192.0.2.1", 1, authority),
        "another name": lambda: make_certificate(path, "memory.example.com", 1, authority),
    }[request.param]()
    return made, *WRONG[request.param]


@pytest.mark.usefixtures("place")
def test_no_token_is_sent_to_join_where_the_certificate_is_wrong(
    memfs: Run, server: Recorder, authority: str, wrong: tuple[str, str, str]
) -> None:
    server.certificate, why, hint = wrong
    join = ("team", "join", server.address, "--project", "shop", "--token-stdin")
    shown = memfs(*join, "--ca", authority, stdin=TOKEN)
    assert (shown.code, shown.out) == (1, "")
    assert shown.err == (
        f"error: the certificate of {server.address} is not trusted: {why}\nhint: {hint}\n"
    )
    assert (server.met, server.heard) == (1, b"")
    assert memfs("team", "push").err.startswith("error: this project has not joined a team")


def test_nothing_is_sent_once_a_certificate_is_wrong(
    place: Place, memfs: Run, server: Recorder, authority: str, wrong: tuple[str, str, str]
) -> None:
    join = ("team", "join", server.address, "--project", "shop", "--token-stdin")
    shown = memfs(*join, "--ca", authority, stdin=TOKEN)
    assert (shown.code, TOKEN.encode() in server.heard) == (0, True)
    record(place.home, "s1", ("user", "which port?"), ("assistant", "Port 7741."))
    server.certificate, why, hint = wrong
    server.heard, server.met = b"", 0
    told = f"the certificate of {server.address} is not trusted: {why}"
    assert f"! {told}" in memfs("team", "share", "--project", "-y").err
    pushed = memfs("team", "push")
    assert (pushed.code, pushed.err) == (1, f"error: {told}\nhint: {hint}\n")
    assert run_upload(place.home.local) == {"error": told, "wait": 0.0}
    searched = memfs("search", "which port", "--team")
    assert searched.err == f"! no hits from the team: {told}\n"
    assert "which port?" in searched.out
    assert (server.met, server.heard) == (4, b"")
    for words in (("team", "status"), ("status",), ("doctor",)):
        assert told in " ".join(memfs(*words).out.split())
    left = memfs("team", "leave", "--purge")
    assert (left.code, left.err.splitlines()[0].startswith(f"error: {told}; ")) == (1, True)
    assert (server.met, server.heard) == (5, b"")


@pytest.mark.usefixtures("place")
def test_the_system_does_not_know_an_authority_of_a_company(memfs: Run, server: Recorder) -> None:
    shown = memfs("team", "join", server.address, "--token-stdin", stdin=TOKEN)
    assert shown.code == 1
    assert "unable to get local issuer certificate" in shown.err
    assert shown.err.splitlines()[1] == f"hint: {UNKNOWN}"
    assert (server.met, server.heard) == (1, b"")
