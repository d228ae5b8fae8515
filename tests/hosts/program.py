"""Runs a real assistant, headless, against a model server on loopback.

Nothing of the caller's environment or home is passed on (`env -i`): a fresh HOME, a dummy key and
the switches that keep it off the network. For proof that it stays off, start the tests and with them
the server and the assistants in a network namespace that has only loopback:

    unshare -n sh -c 'ip link set lo up && exec python -m pytest -m host tests/hosts'
"""

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, NamedTuple, Protocol, Self

DEFAULT_PATH: Final = "/usr/bin:/bin"


class Run(NamedTuple):
    """How one run ended."""

    code: int
    stdout: str
    stderr: str


class Conversation(Protocol):
    """A running session that is given one prompt after the other."""

    def say(self, prompt: str) -> str:
        """Give a prompt, and return the answer when the turn has ended."""


@dataclass(frozen=True)
class Program(ABC):
    """An assistant with its own ``home``, started in ``cwd``.

    ``path`` is the PATH that hooks see: put the directory of a console script first to have it found.
    ``env`` adds variables. ``timeout`` is in seconds, for each run. As a context manager it ends on
    leaving whatever was left running in that home; before that, `left_running` tells.
    """

    home: Path
    cwd: Path
    model_url: str
    path: str = DEFAULT_PATH
    env: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 120

    @abstractmethod
    def program(self) -> list[str]:
        """Return what starts it; FileNotFoundError if it is not installed."""

    @abstractmethod
    def headless(self, prompt: str, args: Sequence[str]) -> list[str]:
        """Return the words that have it answer one prompt and end."""

    @abstractmethod
    def variables(self) -> dict[str, str]:
        """Return what points it at the model and keeps it off the network."""

    @abstractmethod
    def sessions(self) -> list[str]:
        """Return the ids of the sessions that it keeps in ``home``, oldest first."""

    @abstractmethod
    def conversation(self) -> contextlib.AbstractContextManager[Conversation]:
        """One process that takes several prompts, as the terminal and editors have it."""

    def run(self, prompt: str, *args: str) -> Run:
        """Answer one prompt in a new session, or as ``args`` say.

        Raises FileNotFoundError when it is not installed, and subprocess.TimeoutExpired after
        ``timeout``, when all that it started has been ended. What a hook detached from a run that
        ended by itself goes on, as it would for a user.
        """
        command = [*self.program(), *self.headless(prompt, args)]
        # Files and not pipes: a detached grandchild that keeps a pipe open must not hold us up.
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                command,
                cwd=self.cwd,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            try:
                code = process.wait(self.timeout)
            except BaseException as error:
                process.kill()
                process.wait()
                self.end_all()
                if isinstance(error, subprocess.TimeoutExpired):
                    error.output, error.stderr = _read(out), _read(err)
                raise
            return Run(code, _read(out).decode(), _read(err).decode())

    @contextlib.contextmanager
    def serving(self, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        """Start it with its streams at our hands; closing its input has to end it.

        `timeout` is for all of it.
        """
        with subprocess.Popen(
            [*self.program(), *words],
            cwd=self.cwd,
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            watchdog = threading.Timer(self.timeout, process.kill)
            watchdog.start()
            try:
                yield process
                assert process.stdin
                process.stdin.close()
                process.wait()
            finally:
                watchdog.cancel()
                watchdog.join()
                process.kill()
                self.end_all()

    def command(self, *words: str) -> str:
        """Run a command of the program itself (`claude plugin …`); it has to succeed."""
        done = subprocess.run(
            [*self.program(), *words],
            cwd=self.cwd,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=self.timeout,
            check=False,
        )
        assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
        return done.stdout.decode()

    def environment(self) -> dict[str, str]:
        """Return all that it sees of an environment, and make its folder for temporary files."""
        temporary = self.home / "tmp"
        temporary.mkdir(parents=True, exist_ok=True)
        return {
            "PATH": self.path,
            "HOME": str(self.home),
            "TMPDIR": str(temporary),
            "TERM": "dumb",
            **self.variables(),
            **self.env,
        }

    def left_running(self) -> list[int]:
        """Ids of the processes that have this ``home``, detached ones included (Linux; elsewhere none)."""
        mine = f"HOME={self.home}".encode()
        found = []
        for variables in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):  # it ended meanwhile, or is not ours to read
                if mine in variables.read_bytes().split(b"\0"):
                    found.append(int(variables.parent.name))
        return found

    def end_all(self) -> None:
        """End what is `left_running`: by id, because hooks run in process groups of their own."""
        deadline = time.monotonic() + 5
        while (left := self.left_running()) and time.monotonic() < deadline:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end_all()


def _read(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()
