"""The commands that hosts start as our hooks."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

from memfs import hosts
from memfs.store import service, shipped

_PERL = "/usr/bin/perl"  # the system's: one on the PATH may be anybody's
_TELLS_PERL = "$PERL5OPT$PERL_SIGNALS$PERL_HASH_SEED_DEBUG"


def of(host: str) -> tuple[str, ...]:
    """Return all commands of our hooks for a host, with its tools and without."""
    return tuple(make(host, *more) for make in (hook, quick) for more in ((), ("mcp",)))


def hook(*words: str) -> str:
    """Return the command of a hook, which does nothing where Python or our script is gone.

    The shell would end with 127, by which Gemini refuses a prompt, and Python with 2, as all do.
    """
    return line(python(*words)) if os.name == "nt" else f"{_there()}; exec {line(python(*words))}"


def quick(*words: str) -> str:
    """Return the command of a hook that the service answers: Perl asks it where that is there.

    What somebody wants every Perl to load or print would take longer than Python, or be printed.
    Of a locale that is missing Perl warns on stderr, unless it is told not to (`PERL_BADLANG`).
    """
    asks = perl(*words)
    if not asks:
        return hook(*words)
    socket, script = shlex.quote(str(service.address())), shlex.quote(_script(hosts.QUICK_HOOK))
    can = f'[ -S {socket} ] && [ -x {_PERL} ] && [ -r {script} ] && [ -z "{_TELLS_PERL}" ]'
    return f"{_there()}; {can} && PERL_BADLANG=0 exec {line(asks)}; exec {line(python(*words))}"


def python(*words: str) -> list[str]:
    """Return the words of a command: this interpreter, without site-packages, on our file."""
    return [sys.executable, "-I", "-S", "-E", _script(hosts.HOOK), *words]


def perl(*words: str) -> list[str]:
    """Return the words of a command by which Perl asks the service; none where it cannot."""
    if not service.quick() or not os.access(_PERL, os.X_OK):
        return []
    return [_PERL, "-C0", _script(hosts.QUICK_HOOK), sys.executable, *words]


def line(words: list[str]) -> str:
    """Return a command as a shell reads it."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _there() -> str:
    program, script = shlex.quote(sys.executable), shlex.quote(_script(hosts.HOOK))
    return f"[ -x {program} ] && [ -f {script} ] || exit 0"


def _script(name: str) -> str:
    return shipped.path("hooks", name)
