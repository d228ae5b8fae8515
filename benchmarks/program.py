"""The installed program, run for a user that a measurement makes: hooks, commands and service."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable

from memfs.store import store_paths

_PAUSE = 0.3  # seconds
_LONGEST = 3600.0


def make_user(folder: str, name: str, configured: str) -> dict[str, str]:
    """Make a user with home `folder` and store `name`; return their environment."""
    user = f"{folder}/{name}"
    os.mkdir(user)
    with open(f"{user}/{store_paths.CONFIG}", "w", encoding="utf-8") as handle:
        handle.write(f"memfs: 1\n{configured}\n")
    return {"HOME": folder, "MEMFS_HOME": user, "PATH": os.environ.get("PATH", "")}


def run(command: list[str], stdin: bytes, env: dict[str, str], folder: str = "/") -> bytes:
    """Run a program to its end and return its output. Raises `RuntimeError` if it fails."""
    done = subprocess.run(  # noqa: S603 - our own programs
        command, input=stdin, capture_output=True, env=env, cwd=folder, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command[-1]}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def memfs(words: list[str], env: dict[str, str], folder: str) -> bytes:
    """Run a command of memfs in a folder and return its output."""
    return run([sys.executable, "-m", "memfs", *words], b"", env, folder)


def await_service(
    ask: Callable[[], object], env: dict[str, str], folder: str, tick: Callable[[int], object]
) -> None:
    """Have the service open a store, and wait until it has no work left.

    `ask` is called again and again: each call may start the service.
    """
    deadline = time.monotonic() + _LONGEST
    while time.monotonic() < deadline:
        ask()
        time.sleep(_PAUSE)
        found = json.loads(memfs(["service", "--json"], env, folder))
        if found.get("stores") and not found["work"]:
            return
        tick(0)
    raise RuntimeError("the service is not done with its work: memfs service")
