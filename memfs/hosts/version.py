"""The installed version of an assistant, as its program prints it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from memfs.hosts.base import Host

_TIMEOUT = 5  # seconds: those that are written in JavaScript take one or two
_NUMBER = re.compile(r"\d+(?:\.\d+)+(?:[-+][-+.\w]*\w)?")


def ask(known: Iterable[Host]) -> dict[str, str]:
    """Run the programs of hosts in parallel; return their versions by name, "" for none."""
    programs = {host.NAME: shutil.which(host.COMMAND) for host in known}
    with ThreadPoolExecutor(max(len(programs), 1)) as threads:
        return dict(zip(programs, threads.map(_ask_program, programs.values()), strict=True))


def calls_tools(host: Host) -> bool:
    """Return whether prompt hooks of the installed version can call tools."""
    found = ask([host])[host.NAME] if host.CALLS_TOOLS else ""
    return bool(found) and _parse_numbers(found) >= _parse_numbers(host.CALLS_TOOLS)


def _parse_numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d{1,9}", version.partition("-")[0])]


def _ask_program(program: str | None) -> str:
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
            output = process.communicate(timeout=_TIMEOUT)[0]
        except subprocess.TimeoutExpired:
            output = b""
        finally:
            _kill(process)
    found = _NUMBER.search(output.decode("utf-8", "replace"))
    return found[0] if found else ""


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and its children, which may hold our pipe open."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
