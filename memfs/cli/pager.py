"""Long output goes through a pager, as git's does: `PAGER`, or less."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import TYPE_CHECKING, BinaryIO, ParamSpec, TypeVar, cast

from memfs.cli import console
from memfs.files import account

if TYPE_CHECKING:
    from subprocess import Popen

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_LESS = "FRX"  # quits where all fits on the screen, keeps colours, and leaves the text there


class PagerStream(io.TextIOWrapper):
    """Standard output that a pager shows on the terminal."""

    def isatty(self) -> bool:
        """Return True: what is written here is for a person."""
        return True


@contextmanager
def open_pager() -> Iterator[None]:
    """Send stdout through a pager while the body runs.

    There is none where stdout or stdin is no terminal, on a dumb one, and where the pager is `cat`,
    empty or missing.
    """
    command = _find_pager() if sys.stdout.isatty() and sys.stdin.isatty() else []
    if not command:
        yield
        return
    import subprocess  # 5 ms, for a terminal

    env = {"LESS": _LESS, "LESSCHARSET": "utf-8", **os.environ}
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=env) as process:  # noqa: S603 - the user's
        before = sys.stdout
        before.flush()
        sys.stdout = PagerStream(cast("BinaryIO", process.stdin), "utf-8", "replace")
        console.set_paged(True)
        try:
            yield
        finally:
            console.set_paged(False)
            with suppress(BrokenPipeError):  # the user has seen enough
                sys.stdout.close()
            sys.stdout = before
            _wait(process)


def _find_pager() -> list[str]:
    """Return the words that start the pager, [] for none."""
    import shlex  # for a terminal

    words = shlex.split(os.environ.get("PAGER", "less"))
    is_none = not words or words[0] == "cat" or os.environ.get("TERM") == "dumb"
    program = "" if is_none else account.find_program(words[0])
    return [program, *words[1:]] if program else []


def paged(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Have a command's output shown by a pager where it is longer than the screen."""

    @wraps(function)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with open_pager():
            return function(*args, **kwargs)

    return run


def _wait(process: Popen[bytes]) -> None:
    """Wait for the pager; an interrupt is for it."""
    import signal  # of a command that has a pager

    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.wait()
    finally:
        signal.signal(signal.SIGINT, handler)
