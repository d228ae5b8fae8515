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
    """Return the command of a hook, which does nothing where Python or our script is gone.

    The shell would end with 127, by which Gemini refuses a prompt, and Python with 2, as all do.
    """
    return line(python(*words)) if os.name == "nt" else f"{_there()}; exec {line(python(*words))}"


def python(*words: str) -> list[str]:
    """Return the words of a command: this interpreter, without site-packages, on our file."""
    return [sys.executable, "-I", "-S", "-E", _script(hosts.HOOK), *words]


def line(words: list[str]) -> str:
    """Return a command as a shell reads it."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _there() -> str:
    program, script = shlex.quote(sys.executable), shlex.quote(_script(hosts.HOOK))
    return f"[ -x {program} ] && [ -f {script} ] || exit 0"


def _script(name: str) -> str:
    return resources.path("hooks", name)
