"""Serves a team until it is stopped; bounds the connections of an address."""

from __future__ import annotations

import os
import socket
import ssl
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from memfs.core.errors import UsageError
from memfs.team.server.application import TeamService, make_application
from memfs.team.server.database import TeamDatabase

if TYPE_CHECKING:
    import asyncio


@dataclass(frozen=True)
class ServerSettings:
    """How to serve: `rate` is per member; see `memfs team serve --help`.

    With a certificate and its key it speaks TLS itself; else a proxy does. `header_time` and
    `body_time` are seconds, `connections` those of an address.
    """

    database: str
    host: str = "127.0.0.1"
    port: int = 8477
    rate: float = 50.0
    certificate: str = ""
    key: str = ""
    header_time: float = 10.0
    body_time: float = 30.0
    connections: int = 256


class CountedListener(socket.socket):
    """Bounds the connections of an address whose TLS handshake is not done; the first ones go.

    A protocol learns of a connection only when the handshake is done.
    """

    def __init__(self, listening: socket.socket, connections: int) -> None:
        super().__init__(fileno=listening.detach())
        self._connections = connections
        self._begun: dict[object, socket.socket] = {}  # by the address and port of the client

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection."""
        connection, client = super().accept()
        self._begun = {where: each for where, each in self._begun.items() if each.fileno() >= 0}
        same = [each for where, each in self._begun.items() if where[0] == client[0]]  # type: ignore[index]
        for each in same[: len(same) + 1 - self._connections]:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)  # the server reads its end, and closes it
        self._begun[client] = connection
        return connection, client

    def end_handshake(self, client: object) -> None:
        """Count a connection no more: from here on its protocol does."""
        self._begun.pop(client, None)


class _LimitedProtocol(H11Protocol):
    """Ends a connection whose request is not there in time, however slowly its bytes come."""

    settings: ClassVar[ServerSettings]
    listener: ClassVar[CountedListener]
    open: ClassVar[defaultdict[str, dict[_LimitedProtocol, None]]]  # by address, the first first
    _address, _phase = "", ""  # of the request: header, body, or "" while none is awaited
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; an address with too many loses its first one that nothing is computed for."""
        self.listener.end_handshake(transport.get_extra_info("peername"))
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        others = self.open[self._address]
        if len(others) >= self.settings.connections:
            first = next((each for each in others if not each.is_answered()), self)
            first.transport.abort()
            others.pop(first, None)
        others[self] = None
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """End, and count it no more."""
        self._set_phase("")
        others = self.open[self._address]
        others.pop(self, None)
        if not others:
            del self.open[self._address]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Go on with the next request."""
        super().on_response_complete()
        self._watch()

    def _watch(self) -> None:
        """Give each part of a request its time, from its beginning on."""
        theirs: Any = self.conn.their_state
        begun = self.cycle is None or bool(self.conn.trailing_data[0])
        if theirs is h11.SEND_BODY:
            self._set_phase("body")
        else:
            self._set_phase("header" if theirs is h11.IDLE and begun else "")

    def _set_phase(self, phase: str) -> None:
        if phase == self._phase:
            return
        self._phase = phase
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if phase:
            own = self.settings
            seconds = own.header_time if phase == "header" else own.body_time
            self._timer = self.loop.call_later(seconds, self.transport.abort)

    def is_answered(self) -> bool:
        """Tell whether a request is there as a whole, and its answer not yet."""
        return not self._phase and self.cycle is not None and not self.cycle.response_complete


_KEPT = 600  # seconds that a silent connection stays open: members' services ask at their prompts


class TeamServer:
    """Listens from the start on; `port` is the one that it has. Raises `OSError` if it is taken.

    Raises `UsageError` for an address, a certificate or a key that cannot be used.
    """

    def __init__(self, settings: ServerSettings) -> None:
        _check_certificate(settings.certificate, settings.key)
        self._database = TeamDatabase(settings.database, connections=16)
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        self._listener = CountedListener(
            socket.create_server((settings.host, settings.port), family=family),
            settings.connections,
        )
        self.port: int = self._listener.getsockname()[1]
        limited = {"settings": settings, "listener": self._listener, "open": defaultdict(dict)}
        searches = 2 * (os.cpu_count() or 1)
        config = uvicorn.Config(
            make_application(TeamService(self._database, settings.rate, searches)),
            http=type("LimitedProtocol", (_LimitedProtocol,), limited),
            loop="asyncio",
            log_level="error",
            access_log=False,
            lifespan="off",
            server_header=False,
            ssl_certfile=settings.certificate or None,
            ssl_keyfile=settings.key or None,
            timeout_graceful_shutdown=5,
            timeout_keep_alive=_KEPT,
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve until SIGINT, SIGTERM or `stop`."""
        self._database.open()
        try:
            self._server.run(sockets=[self._listener])
        finally:
            self._database.close()
            self._listener.close()

    def stop(self) -> None:
        """End the server; its thread may take a moment."""
        self._server.should_exit = True


def _check_certificate(certificate: str, key: str) -> None:
    """Raise `UsageError` unless TLS can be spoken with these, or neither is given."""
    if key and not certificate:
        raise UsageError(
            f"the private key {key} was given without a certificate", "add --certificate FILE"
        )
    if not certificate:
        return
    for path in (certificate, key) if key else (certificate,):
        try:
            with open(path, "rb"):
                pass
        except OSError as error:
            raise UsageError(
                f"cannot read {path}: {error.strerror}", "check the path and its permissions"
            ) from None
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key or None, _refuse_passphrase)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise UsageError(
                f"{key or certificate} is not the private key of the certificate {certificate}",
                "give the private key of the certificate with --key",
            ) from None
        named = f"{certificate} and {key}" if key else certificate
        raise UsageError(
            f"cannot use TLS with {named}",
            "use PEM files with the certificate, its chain and its key",
        ) from None


def _refuse_passphrase() -> str:
    raise UsageError(
        "the key has a passphrase, which the server cannot ask for",
        "remove the passphrase: openssl pkey -in KEY -out FILE; let only the server read FILE",
    )
