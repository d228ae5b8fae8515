"""A terminal with somebody at it: what asks for one is run in it."""

import os
import pty
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.forked import MEMFS, Forked

_LONGEST = 30.0  # seconds, for what it shows and once more for its end


def type_into(
    command: Sequence[str],
    typed: str,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    *,
    keys: tuple[str, str] = ("", ""),
) -> tuple[int, str]:
    """Run a command in a terminal, type what it asks for, and return (exit code, screen).

    memfs is forked from a process that has imported it.
    `keys` are (what asks for a key, the keys): one is pressed each time that it was asked for.
    """
    ours, theirs = pty.openpty()
    try:
        with _start(command, theirs, cwd, env) as process:
            os.close(theirs)
            os.write(ours, typed.encode())
            shown = _shown(ours, *keys)
            try:
                process.wait(_LONGEST)
            except subprocess.TimeoutExpired as error:
                process.kill()  # or leaving the block would wait for ever
                raise AssertionError(f"it waits for more than was typed:\n{shown}") from error
            return process.returncode, shown
    finally:
        os.close(ours)


def _start(
    command: Sequence[str], terminal: int, cwd: Path, env: Mapping[str, str] | None
) -> subprocess.Popen[bytes] | Forked:
    streams = (terminal,) * 3
    if list(command[: len(MEMFS)]) == MEMFS:
        return Forked([*command[len(MEMFS) :]], cwd, os.environ if env is None else env, streams)
    return subprocess.Popen(
        command, cwd=cwd, env=env, stdin=terminal, stdout=terminal, stderr=terminal
    )


def _shown(handle: int, asks: str = "", keys: str = "") -> str:
    found = b""
    pressed = 0
    deadline = time.monotonic() + _LONGEST
    while time.monotonic() < deadline:
        if not select.select([handle], [], [], 0.2)[0]:
            if asks and pressed < min(len(keys), found.count(asks.encode())):
                os.write(handle, keys[pressed].encode())
                pressed += 1
            continue
        try:
            piece = os.read(handle, 1 << 16)
        except OSError:  # nobody has it open any more
            break
        if not piece:
            break
        found += piece
    return found.decode("utf-8", "replace").replace("\r\n", "\n")
