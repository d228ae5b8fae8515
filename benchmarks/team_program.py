"""The server of a team as a program of its own, and a member that asks it over loopback."""

import http.client
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

from memfs.team.protocol import HEADER, PROTOCOL

_IDLE = 3.0  # seconds after which a connection is opened anew: the server closes it after five
_LONGEST = 60.0  # seconds of a request, and of the server's start
_LINE = re.compile(rb"serving on http://127\.0\.0\.1:(\d+)")


class LoopbackMember:
    """A connection that stays open, used with the token of a project's member. Not thread-safe."""

    def __init__(self, port: int, tokens: Sequence[str]) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_LONGEST)
        self._tokens = tokens
        self._used = 0.0

    def ask(
        self, project: int, method: str, path: str, body: bytes | None = None
    ) -> tuple[int, bytes]:
        """Send a request; return the status and the body of its answer. Raises `OSError`."""
        token = self._tokens[project % len(self._tokens)]
        headers = {HEADER: str(PROTOCOL), "Authorization": f"Bearer {token}"}
        if time.monotonic() - self._used > _IDLE:
            self._connection.close()
        self._connection.request(method, path, body, headers)
        response = self._connection.getresponse()
        body = response.read()
        self._used = time.monotonic()
        return response.status, body

    def search(self, project: int, query: str) -> int:
        """Search a project, and return how many hits there are. Raises `RuntimeError`."""
        body = msgspec.json.encode({"projects": [project], "query": query})
        status, answer = self.ask(project, "POST", "/v1/search", body)
        if status != http.client.OK:
            raise RuntimeError(f"a search failed: {status} {answer[:200]!r}")
        return len(msgspec.json.decode(answer)["hits"])

    def close(self) -> None:
        """Close the connection; the next request opens it again."""
        self._connection.close()


def make_schema(database: str) -> str:
    """Make the tables of a team, and return the address that the service logs in with."""
    command = [sys.executable, "-m", "memfs", "team", "init", "--team", "bench"]
    done = subprocess.run(  # noqa: S603 - our own program
        [*command, "--database", database], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return done.stdout.partition("=")[2].strip().strip("'")


@contextmanager
def serve(database: str, folder: str, *words: str) -> Iterator[int]:
    """Serve a team, and yield the port. Its log is in `folder`. Raises `RuntimeError`."""
    command = [sys.executable, "-m", "memfs", "team", "serve", "--port", "0", "--rate", "1000000"]
    handle, path = tempfile.mkstemp(dir=folder, suffix=".log")
    with (
        open(handle, "wb") as log,
        subprocess.Popen(  # noqa: S603 - our own program
            [*command, "--database", database, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
        ) as server,
    ):
        try:
            yield _await_port(server, path)
        finally:
            server.terminate()


def _await_port(server: subprocess.Popen[bytes], log: str) -> int:
    deadline = time.monotonic() + _LONGEST
    while time.monotonic() < deadline and server.poll() is None:
        with open(log, "rb") as file:
            if found := _LINE.search(file.read(4096)):
                return int(found[1])
        time.sleep(0.05)
    raise RuntimeError("memfs team serve does not start")
