"""A member's side of a team's server: requests over HTTP(S). What goes wrong is a `TeamError`."""

import http.client
import ipaddress
import socket
import ssl
import threading
from contextlib import suppress
from typing import NamedTuple, Self, TypeVar
from urllib.parse import urlsplit

import msgspec

from memfs.core.errors import MemfsError, UsageError
from memfs.ipc.client import VERSION
from memfs.team.protocol import ENDPOINTS, HEADER, PROTOCOL, Refusal

T = TypeVar("T")
TIMEOUT = 15.0  # seconds for a request with its answer
LARGEST = 8 << 20  # bytes of an answer
_LONGEST_TOKEN = 500
_LONGEST_WAIT = 3600.0  # seconds that a server may ask for
_SHOWN = 200  # characters of what a server says
_BUSY, _UPGRADE = 429, 426
_MALFORMED = (400, 413, 422)
_OTHER_HOST = "check the address: the certificate is for another host"
_OTHER_AUTHORITY = (
    "run memfs team join with --ca FILE if your company has its own certificate authority"
)
_NETWORK_HINT = "check the address and the network"
_CERTIFICATE_HINTS = {  # by OpenSSL's codes
    9: "check the clock of this machine",
    10: "ask the server's administrator to renew the certificate",
    62: _OTHER_HOST,
    64: _OTHER_HOST,  # likewise, where the address is a number
}
_FAILURES = (OSError, http.client.HTTPException, ValueError, EOFError)
_UNDECODABLE = (msgspec.MsgspecError, ValueError, RecursionError)


class TeamError(MemfsError):
    """A team's server did not do what it was asked.

    `away`: nobody answered in time, or nothing that can be understood: ask again later. Else the
    server says no, and asking again changes nothing. `wait` is how many seconds the server asks to
    be left alone; `malformed`: it is the content of the request that it does not take.
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        away: bool = True,
        wait: float = 0.0,
        malformed: bool = False,
    ) -> None:
        super().__init__(message, hint)
        self.away, self.wait, self.malformed = away, wait, malformed


class TeamAddress(NamedTuple):
    """The address of a team's server. `host` is without brackets, `path` without a last slash."""

    secure: bool
    host: str
    port: int
    path: str

    def __str__(self) -> str:
        scheme, usual = ("https", 443) if self.secure else ("http", 80)
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == usual else f":{self.port}"
        return f"{scheme}://{host}{port}{self.path}"


def parse_address(text: str) -> TeamAddress:
    """Return the parts of an address; raises `UsageError` for one that no token may be sent to."""
    hint = "use an address like https://memory.example.com"
    try:
        parts = urlsplit(text.strip())
        port = parts.port
        host = (parts.hostname or "").encode("idna").decode("ascii")
    except ValueError as error:  # also what cannot be a name
        raise UsageError(f"{text!r} is not a server address: {error}", hint) from None
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError(f"{text!r} is not a server address", hint)
    if "@" in parts.netloc:
        raise UsageError(
            "the address contains a user name or password",
            "remove the user name and password from the address; the token identifies you",
        )
    if parts.query or parts.fragment or not (parts.path.isascii() and parts.path.isprintable()):
        raise UsageError(
            f"{text!r} contains characters that are not allowed in a server address", hint
        )
    secure = parts.scheme == "https"
    if not secure and not _is_loopback(host):
        raise UsageError(
            f"{text} is not encrypted: others on the network could read your token",
            f"use https://{parts.netloc}{parts.path}",
        )
    path = parts.path.rstrip("/").replace(" ", "%20")
    return TeamAddress(secure, host, port or (443 if secure else 80), path)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_token(token: str) -> str:
    """Return a token without spaces around it; raises `UsageError` for what cannot be one."""
    token = token.strip()
    plain = token.isascii() and token.isprintable() and " " not in token
    if not token or not plain or len(token) > _LONGEST_TOKEN:
        raise UsageError(
            "the given text is not a team token" if token else "no token was given",
            "ask the server's administrator for a token (created with memfs team member add)",
        )
    return token


class TeamClient:
    """A connection to a team's server, kept open between requests. One thread uses it.

    It follows no redirect and uses no proxy: the token goes only where its owner said. `ca` is a
    file with the certificates to trust instead of the system's ("": the system's); `timeout` the
    seconds that a request may take, however slowly the server answers.
    """

    def __init__(self, address: str, token: str, ca: str = "", timeout: float = TIMEOUT) -> None:
        self._address = parse_address(address)
        self._headers = {
            "Authorization": f"Bearer {check_token(token)}",
            HEADER: str(PROTOCOL),
            "Accept": "application/json",
            "User-Agent": f"memfs/{VERSION}",
        }
        self._timeout = timeout
        self._context = _make_context(ca) if self._address.secure else None
        self._connection: _Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def ask(self, gives: type[T], request: object = None) -> T:
        """Send a request and return its answer, a class of `protocol.ENDPOINTS`.

        A connection that went stale is opened again. Raises `TeamError`.
        """
        endpoint = next(each for each in ENDPOINTS if each.gives is gives)
        data = msgspec.json.encode(request) if endpoint.takes else None
        is_old = self._connection is not None
        try:
            try:
                response, body = self._exchange(endpoint.method, endpoint.path, data)
            except ConnectionError:
                if not is_old:
                    raise
                response, body = self._exchange(endpoint.method, endpoint.path, data)
        except _FAILURES as error:
            raise self._describe(error) from None
        self._check(response, body)
        try:
            return msgspec.json.decode(body, type=gives)
        except _UNDECODABLE:
            raise TeamError(
                f"{self._address} does not appear to be a memfs team server", "check the address"
            ) from None

    def _exchange(
        self, method: str, path: str, data: bytes | None
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Send a request; everything of it has `timeout` seconds together."""
        connection = self._connection or _Connection(self._address, self._context, self._timeout)
        self._connection = connection
        clock = threading.Timer(self._timeout, connection.abort)
        clock.daemon = True
        clock.start()
        kind = {"Content-Type": "application/json"} if data else {}
        try:
            connection.request(method, self._address.path + path, data, self._headers | kind)
            response = connection.getresponse()
            body = response.read(LARGEST + 1)
            if len(body) > LARGEST:
                self.close()
            connection.check_time()
        except BaseException as error:
            self.close()
            if connection.is_aborted:
                raise TimeoutError from error
            raise
        else:
            return response, body
        finally:
            clock.cancel()

    def _check(self, response: http.client.HTTPResponse, body: bytes) -> None:
        """Raise `TeamError` for an answer that is none of success, or of another version."""
        spoken = response.headers.get(HEADER, "")
        if spoken.isdigit() and (version := int(spoken[:9])) != PROTOCOL:
            raise TeamError(
                f"the team server uses protocol version {version}, "
                f"this memfs uses version {PROTOCOL}",
                "update memfs"
                if version > PROTOCOL
                else "ask the server's administrator to update the server",
                away=False,
            )
        if 300 <= response.status < 400:
            where = _shorten(response.headers.get("Location", ""))
            raise TeamError(
                f"{self._address} redirects to {where or 'another address'}; "
                "memfs does not follow redirects",
                "run memfs team join with the server's final address",
            )
        if len(body) > LARGEST:
            raise TeamError(
                f"{self._address} sent a response of more than {LARGEST >> 20} MB",
                "check the address",
            )
        if response.status != 200:
            raise self._describe_refusal(response.status, response.headers, body)

    def _describe_refusal(
        self, status: int, headers: http.client.HTTPMessage, body: bytes
    ) -> TeamError:
        try:
            said = msgspec.json.decode(body, type=Refusal)
        except _UNDECODABLE:
            said = Refusal("")
        text, hint = _shorten(said.error), _shorten(said.hint)
        if status == _UPGRADE:
            text = text or "the team server uses another protocol version"
            return TeamError(
                text, hint or "update memfs, or ask the administrator to update", away=False
            )
        if status == _BUSY or status >= 500:
            after = headers.get("Retry-After", "")
            wait = float(after) if after.isascii() and after.isdigit() else 0.0
            text = text or f"{self._address} answered with HTTP status {status}"
            return TeamError(text, hint or "try again later", wait=min(_LONGEST_WAIT, wait))
        if status == 401 and not hint:
            hint = "ask the server's administrator for a new token, then run memfs team join"
        text = text or f"{self._address} refused the request (HTTP status {status})"
        return TeamError(text, hint, away=False, malformed=status in _MALFORMED)

    def _describe(self, error: BaseException) -> TeamError:
        if isinstance(error, ssl.SSLCertVerificationError):
            why = error.verify_message.rstrip(".")
            text = f"the certificate of {self._address} is not trusted: {why}"
            return TeamError(text, _CERTIFICATE_HINTS.get(error.verify_code, _OTHER_AUTHORITY))
        if isinstance(error, TimeoutError):
            text = f"{self._address} did not answer within {self._timeout:g} s"
            return TeamError(text, "try again later")
        if isinstance(error, socket.gaierror):
            return TeamError(f"cannot find the host {self._address.host}", _NETWORK_HINT)
        if isinstance(error, http.client.RemoteDisconnected | EOFError):
            why = "the server closed the connection"
        elif isinstance(error, ssl.SSLError):
            why = error.reason or "TLS error"
        elif isinstance(error, OSError):
            why = error.strerror or type(error).__name__
        else:
            why = "the response is not HTTP"
        return TeamError(f"{self._address} cannot be reached: {_shorten(why)}", _NETWORK_HINT)


class _Connection(http.client.HTTPConnection):
    """A connection that another thread can end, also while it is being made."""

    def __init__(
        self, address: TeamAddress, context: ssl.SSLContext | None, timeout: float
    ) -> None:
        super().__init__(address.host, address.port, timeout=timeout)
        self._secure = context
        self.is_aborted = False

    def connect(self) -> None:
        super().connect()
        self.check_time()
        if self._secure is not None:
            wrapped = self._secure.wrap_socket(
                self.sock, server_hostname=self.host, do_handshake_on_connect=False
            )
            self.sock = wrapped  # before the handshake: `abort` has to find it
            wrapped.do_handshake()

    def check_time(self) -> None:
        """Raise `TimeoutError` once the connection was ended for taking too long."""
        if self.is_aborted:
            raise TimeoutError

    def abort(self) -> None:
        """Have whatever waits for the server fail at once."""
        self.is_aborted = True
        with suppress(OSError, AttributeError):  # it is not connected yet, or no more
            self.sock.shutdown(socket.SHUT_RDWR)


def _make_context(ca: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca or None)
    except (OSError, ValueError) as error:
        why = (
            error.strerror
            if isinstance(error, OSError) and error.strerror
            else "the file contains no certificate"
        )
        raise UsageError(f"cannot read certificates from {ca}: {why}", "use a PEM file") from None


def _shorten(text: str) -> str:
    return " ".join(text.split())[:_SHOWN]
