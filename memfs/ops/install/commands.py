"""The commands that hosts start as our hooks."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

from memfs import hosts
from memfs.store import resources


def list_commands(host: str) -> tuple[str, ...]:
    """Return all commands of our hooks for a host, with its tools and without."""
    return tuple(hook(host, *more) for more in ((), ("mcp",)))


def hook(*words: str) -> str:
    """Return the command of a hook, which does nothing if Python or our script is gone.

    Else Gemini refuses a prompt on exit code 127 of the shell, and every host on 2 of Python.
    """
    return quote(python(*words)) if os.name == "nt" else f"{_guard()}; exec {quote(python(*words))}"


def python(*words: str) -> list[str]:
    """Return the words of a command: this interpreter, without site-packages, on our file."""
    return [sys.executable, "-I", "-S", "-E", _get_script(hosts.HOOK), *words]


def quote(words: list[str]) -> str:
    """Quote the words of a command for the shell."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _guard() -> str:
    program, script = shlex.quote(sys.executable), shlex.quote(_get_script(hosts.HOOK))
    return f"[ -x {program} ] && [ -f {script} ] || exit 0"


def _get_script(name: str) -> str:
    return resources.path("hooks", name)
