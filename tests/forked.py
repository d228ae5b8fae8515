"""memfs as a process of its own, forked from one that has imported it: it starts in no time.

What is about starting itself (imports, interpreters, signals while it begins) starts `MEMFS`.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NoReturn, Self

import memfs

MEMFS = [sys.executable, "-m", "memfs"]
_NUMBER = 10  # bytes
_LONGEST = 60.0  # seconds, on a machine that has other things to do


class Forked:
    """A process of memfs that runs with its own folder, environment and streams."""

    def __init__(
        self, words: list[str], cwd: Path, env: Mapping[str, str], streams: tuple[int, int, int]
    ) -> None:
        self._report, theirs = os.pipe()
        request = json.dumps({"words": words, "cwd": str(cwd), "env": dict(env)})
        socket.send_fds(_start_server(), [request.encode()], [*streams, theirs])
        os.close(theirs)
        self.pid = self._read(_LONGEST)
        self.returncode = -signal.SIGKILL

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._report)

    def wait(self, longest: float = _LONGEST) -> int:
        """Return how it ended. Raises `TimeoutExpired` if it runs on."""
        self.returncode = self._read(longest)
        return self.returncode

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def _read(self, longest: float) -> int:
        if not select.select([self._report], [], [], longest)[0]:
            raise subprocess.TimeoutExpired("memfs", longest)
        return int(os.read(self._report, _NUMBER))


def run(folder: Path, *words: str, **variables: str) -> tuple[int, str]:
    """Run memfs to its end, without a terminal; return (exit code, what it printed)."""
    done = complete(words, folder, {**os.environ, **variables})
    return done.returncode, done.stdout + done.stderr


def complete(
    words: Sequence[str], cwd: Path, env: Mapping[str, str], typed: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run memfs to its end, with files for its streams."""
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        given.write(typed.encode())
        given.seek(0)
        with Forked([*words], cwd, env, (given.fileno(), out.fileno(), err.fileno())) as process:
            code = process.wait()
        printed = []
        for stream in (out, err):
            stream.seek(0)
            printed.append(stream.read().decode("utf-8", "replace"))
        return subprocess.CompletedProcess([*words], code, *printed)


@cache
def _start_server() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    with theirs:
        handle = theirs.fileno()
        command = [sys.executable, "-P", __file__, str(handle)]
        server = subprocess.Popen(command, pass_fds=[handle], cwd="/", stdin=subprocess.DEVNULL)

    def end() -> None:
        ours.close()
        server.wait()

    atexit.register(end)
    return ours


def _serve(requests: socket.socket) -> None:
    """Fork a process for each request. In it, this returns what it shall do."""
    for found in pkgutil.walk_packages(memfs.__path__, "memfs."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        data, handles, _, _ = socket.recv_fds(requests, 1 << 20, 4)
        if not data:
            sys.exit()
        if os.fork() == 0:
            break
        for handle in handles:
            os.close(handle)
    requests.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    report = handles.pop()
    pid = os.fork()
    if pid:
        for handle in handles:
            os.close(handle)
        os.write(report, b"%*d" % (_NUMBER, pid))
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with suppress(BrokenPipeError):
            os.write(report, b"%*d" % (_NUMBER, status))
        os._exit(0)
    os.close(report)
    for number, handle in enumerate(handles):
        os.dup2(handle, number)
        os.close(handle)
    _become(**json.loads(data))


def _become(words: list[str], cwd: str, env: dict[str, str]) -> NoReturn:
    """Go on as `python -m memfs` in that folder would."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        mode = "w" if number else "r"
        new = open(number, mode, encoding=old.encoding, errors=old.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)
    sys.argv = ["memfs", *words]
    sys.path.insert(0, cwd)
    code: object = 0
    try:
        runpy.run_module("memfs", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))  # to free all takes long


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
