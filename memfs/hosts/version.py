"""Which version of an assistant is installed: its program is asked."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memfs.hosts.base import Host

_TIMEOUT = 5  # seconds: those that are written in JavaScript take one or two
_NUMBER = re.compile(r"\d+(?:\.\d+)+(?:[-+][-+.\w]*\w)?")


def ask(known: Iterable[Host]) -> dict[str, str]:
    """Return the versions of hosts by name, "" for one that is not on the PATH or says none.

    All are asked at once.
    """
    programs = {host.NAME: shutil.which(host.COMMAND) for host in known}
    with ThreadPoolExecutor(max(len(programs), 1)) as threads:
        return dict(zip(programs, threads.map(_of, programs.values()), strict=True))


def calls_tools(host: Host) -> bool:
    """Tell whether the prompt hooks of the version that is installed can call tools."""
    found = ask([host])[host.NAME] if host.CALLS_TOOLS else ""
    return bool(found) and _numbers(found) >= _numbers(host.CALLS_TOOLS)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d{1,9}", version.partition("-")[0])]


def _of(program: str | None) -> str:
    if not program or not os.path.isabs(program):  # no program of the folder one happens to be in
        return ""
    try:
        process = subprocess.Popen(  # noqa: S603 - the assistant's own program
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return ""
    with process:
        try:
            said = process.communicate(timeout=_TIMEOUT)[0]
        except subprocess.TimeoutExpired:
            said = b""
        finally:
            _end(process)
    found = _NUMBER.search(said.decode("utf-8", "replace"))
    return found[0] if found else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program, and what it started: that may hold our pipe open."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
