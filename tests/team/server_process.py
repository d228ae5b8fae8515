"""`memfs team serve` as a process of its own, which a test may kill and start again."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

_LONG = 30.0  # seconds: for what takes a moment, on a machine that has other things to do


class ServerProcess:
    """A server on a port of its own, which stays the same. `log` is a file for what it prints."""

    def __init__(self, database: str, log: Path, *options: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self._log = log
        self._command = [
            sys.executable, "-m", "memfs", "team", "serve", "--database", database,
            "--port", str(self.port), "--rate", "1000000", *options,
        ]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def url(self) -> str:
        scheme = "https" if "--certificate" in self._command else "http"
        return f"{scheme}://127.0.0.1:{self.port}"

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it; return once it listens."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        deadline = time.monotonic() + _LONG
        while time.monotonic() < deadline:
            assert self.is_alive, self.read_log()
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=_LONG).close()
            except ConnectionRefusedError:
                time.sleep(0.01)
            else:
                return
        raise AssertionError(self.read_log())

    def kill(self) -> None:
        """End it with SIGKILL, wherever it is."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(_LONG)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End it with a signal; return what it ended with."""
        assert self._process is not None
        self._process.send_signal(number)
        return self._process.wait(_LONG)

    def read_log(self) -> str:
        return self._log.read_text()
