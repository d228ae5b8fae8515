"""Runs the real Claude Code, headless, against a model server on loopback.

Nothing of the caller's environment or home is passed on (`env -i`): a fresh HOME, a dummy key and
the switches that keep it off the network. For proof that it stays off, start the tests and with them
the server and the assistant in a network namespace that has only loopback:

    unshare -n sh -c 'ip link set lo up && exec python -m pytest tests/hosts'

Install it without running its install scripts (see ``INSTALL_HINT``) and set MEMFS_HOSTS_DIR.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Final, NamedTuple, Self

DEFAULT_PATH: Final = "/usr/bin:/bin"
INSTALL_HINT: Final = """\
Claude Code is not installed for the host tests. Install it (no install script is run) and say where:
  npm install --ignore-scripts --prefix DIR @anthropic-ai/claude-code @anthropic-ai/{package}
  export MEMFS_HOSTS_DIR=DIR        # or MEMFS_CLAUDE_BIN=/path/to/claude"""


class Run(NamedTuple):
    """How one run ended."""

    code: int
    stdout: str
    stderr: str


class Conversation:
    """A running session that is given one prompt after the other."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def say(self, prompt: str) -> str:
        """Give a prompt, and return the answer when the turn has ended."""
        assert self._process.stdin
        assert self._process.stdout
        message = {"type": "user", "message": {"role": "user", "content": prompt}}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            event = json.loads(line)
            if event.get("type") == "result":
                return str(event.get("result"))
        raise RuntimeError("Claude Code ended in the middle of a turn")


@dataclass(frozen=True)
class ClaudeCode:
    """An installation with its own ``home``, started in ``cwd``.

    ``path`` is the PATH that hooks see: put the directory of a console script first to have it found.
    ``env`` adds variables. ``timeout`` is in seconds, for each run. As a context manager it ends on
    leaving whatever hooks left running in that home; before that, `left_running` tells.
    """

    home: Path
    cwd: Path
    model_url: str
    path: str = DEFAULT_PATH
    env: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 60

    def run(self, prompt: str, *args: str) -> Run:
        """Answer one prompt (`claude -p`) in a new session, or as ``args`` say.

        Raises FileNotFoundError when Claude Code is not installed, and subprocess.TimeoutExpired
        after ``timeout``, when all that it started has been ended. What a hook detached from a run
        that ended by itself goes on, as it would for a user.
        """
        (self.home / "tmp").mkdir(parents=True, exist_ok=True)
        command = [str(require_claude()), "-p", prompt, *args]
        # Files and not pipes: a detached grandchild that keeps a pipe open must not hold us up.
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                command,
                cwd=self.cwd,
                env=self._environment(),
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
    def conversation(self) -> Iterator[Conversation]:
        """One process that takes several prompts, as the terminal does (`stream-json`)."""
        (self.home / "tmp").mkdir(parents=True, exist_ok=True)
        form = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        with subprocess.Popen(
            [str(require_claude()), "-p", *form],
            cwd=self.cwd,
            env=self._environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            watchdog = threading.Timer(self.timeout, process.kill)
            watchdog.start()
            try:
                yield Conversation(process)
                assert process.stdin
                process.stdin.close()
                process.wait(self.timeout)
            finally:
                watchdog.cancel()
                process.kill()
                self.end_all()

    def command(self, *words: str) -> str:
        """Run a command of the program itself (`claude plugin …`); it has to succeed."""
        done = subprocess.run(
            [str(require_claude()), *words], cwd=self.cwd, env=self._environment(),
            stdin=subprocess.DEVNULL, capture_output=True, timeout=self.timeout, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
        return done.stdout.decode()

    def resume(self, prompt: str, *args: str) -> Run:
        """Answer one prompt in the newest session of ``cwd`` (`--continue`)."""
        return self.run(prompt, "--continue", *args)

    def compact(self, hint: str = "") -> Run:
        """Compact the newest session of ``cwd`` by hand.

        Script the summary as ``<summary>…</summary>``: a reply without the tags is asked for again.
        """
        return self.resume(f"/compact {hint}".rstrip())

    def transcripts(self) -> list[Path]:
        """The session transcripts in ``home``, oldest first; those of subagents are not among them."""
        found = (self.home / ".claude" / "projects").glob("*/*.jsonl")
        return sorted(found, key=lambda path: path.stat().st_mtime_ns)

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end_all()

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": self.path,
            "HOME": str(self.home),
            "TMPDIR": str(self.home / "tmp"),
            "TERM": "dumb",
            "ANTHROPIC_BASE_URL": self.model_url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            **self.env,
        }


def find_claude() -> Path | None:
    """The binary in MEMFS_CLAUDE_BIN, else the platform package in a node_modules of MEMFS_HOSTS_DIR."""
    if binary := os.environ.get("MEMFS_CLAUDE_BIN"):
        return Path(binary) if Path(binary).is_file() else None
    if not (folder := os.environ.get("MEMFS_HOSTS_DIR")):
        return None
    inside = f"node_modules/@anthropic-ai/{platform_package()}/claude"
    return next(
        (p for pattern in (inside, f"*/{inside}") for p in sorted(Path(folder).glob(pattern))), None
    )


def require_claude() -> Path:
    """The binary; FileNotFoundError says how to install it."""
    if (binary := find_claude()) is None:
        raise FileNotFoundError(INSTALL_HINT.format(package=platform_package()))
    return binary


def platform_package() -> str:
    """The npm package that holds the binary for this machine, e.g. ``claude-code-linux-x64``."""
    machine = platform.machine().lower()
    chip = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(machine, machine)
    musl = "-musl" if sys.platform == "linux" and platform.libc_ver()[0] != "glibc" else ""
    return f"claude-code-{sys.platform}-{chip}{musl}"


def _read(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()
