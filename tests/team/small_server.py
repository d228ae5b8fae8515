"""A small HTTP server on loopback that answers as a test wants, however badly."""

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MEMBER = {
    "team": "acme",
    "member": "ada",
    "scopes": ["push"],
    "expires": "2027-01-01T00:00:00Z",
    "server": "1.0.0",
    "projects": [{"id": 7, "name": "shop", "role": "writer", "origins": []}],
}
Answer = tuple[int, dict[str, str], bytes]
Handle = Callable[[str, dict[str, Any], dict[str, str]], Answer]


def ok(value: object) -> Answer:
    return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()


class SmallServer(ThreadingHTTPServer):
    """Keeps what it was asked: (path, body, headers). `handle` makes the answers."""

    daemon_threads = True

    def __init__(self, handle: Handle) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.handle = handle
        self.asked: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.scheme = "http"

    @property
    def address(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients of these tests go away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: SmallServer

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append((self.path, body, headers))
        status, more, data = self.server.handle(self.path, body, headers)
        self.send_response(status)
        for name, value in more.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_GET  # noqa: N815 - names of the library

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def serve(handle: Handle, certificate: str = "") -> Iterator[SmallServer]:
    """Serve with the certificate and key of a file, or without."""
    server = SmallServer(handle)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.scheme = "https"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def talk(raw: Callable[[socket.socket], None]) -> Iterator[str]:
    """Have `raw` do with each connection what it likes; yield the address."""
    listener = socket.create_server(("127.0.0.1", 0))
    open_sockets: list[socket.socket] = []

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                open_sockets.append(connection)
                threading.Thread(target=attend, args=(connection,), daemon=True).start()

    def attend(connection: socket.socket) -> None:
        with suppress(OSError):
            raw(connection)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for each in open_sockets:
            each.close()
        thread.join()
