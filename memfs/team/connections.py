"""How long a client may take to say what it wants, and how many connections an address has."""

from __future__ import annotations

import socket
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio


class ConnectionLimits(NamedTuple):
    """Seconds for the headers and for the body of a request, and connections of an address."""

    header: float = 10.0
    body: float = 30.0
    connections: int = 256


DEFAULT_LIMITS = ConnectionLimits()


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


def make_protocol(limits: ConnectionLimits, listener: CountedListener) -> type[H11Protocol]:
    """Return the protocol of a server with these limits."""
    return type(
        "LimitedProtocol",
        (_LimitedProtocol,),
        {"limits": limits, "listener": listener, "open": defaultdict(dict)},
    )


class _LimitedProtocol(H11Protocol):
    """Ends a connection whose request is not there in time, however slowly its bytes come."""

    limits: ClassVar[ConnectionLimits]
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
        if len(others) >= self.limits.connections:
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
            seconds = self.limits.header if phase == "header" else self.limits.body
            self._timer = self.loop.call_later(seconds, self.transport.abort)

    def is_answered(self) -> bool:
        """Tell whether a request is there as a whole, and its answer not yet."""
        return not self._phase and self.cycle is not None and not self.cycle.response_complete
