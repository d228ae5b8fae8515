"""Ctrl-C during long work: the work stops where nothing is half-done, and says how to go on."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

import click

from memfs.cli import console, progress
from memfs.cli.progress import Progress
from memfs.core.errors import STOPPED, StoppedError

_LONGEST = 1.5  # seconds


@contextmanager
def deferred_interrupt() -> Iterator[Callable[[], None]]:
    """Note the first Ctrl-C, for which the yielded function raises `StoppedError`.

    Whoever works calls it where nothing is half-done. If that does not come soon, or at the second
    Ctrl-C, the work is interrupted where it is: it waits for something, or something hangs.
    """
    noted = False

    def note(_number: int, _frame: FrameType | None) -> None:
        nonlocal noted
        if noted:
            raise KeyboardInterrupt
        noted = True
        _set_alarm(_LONGEST)
        if os.isatty(2):  # not through a stream, which may be in the middle of a write
            os.write(2, b"\r\x1b[Kstopping; Ctrl-C once more stops at once\n")

    def check() -> None:
        if noted:
            raise StoppedError

    if threading.current_thread() is not threading.main_thread():
        yield check
        return
    with ExitStack() as stack:
        for name in ("SIGINT", "SIGALRM"):
            if hasattr(signal, name):
                number = getattr(signal, name)
                stack.callback(signal.signal, number, signal.signal(number, note))
        stack.callback(lambda: _set_alarm(0) if noted else None)
        yield check


def _set_alarm(seconds: float) -> None:
    if hasattr(signal, "setitimer"):  # Windows has none
        signal.setitimer(signal.ITIMER_REAL, seconds)


@contextmanager
def stoppable_stages(
    describe: Callable[[], str], in_bytes: tuple[str, ...] = ()
) -> Iterator[Callable[[str, int], Progress]]:
    """Show progress (see `progress.show_stages`) of work that Ctrl-C stops: exit code 130.

    `describe` says what is safe then, and how to go on.
    """
    try:
        with deferred_interrupt() as check, progress.show_stages(in_bytes, check) as stage:
            yield stage
    except KeyboardInterrupt:
        console.talk(f"stopped: {describe()}")
        raise click.exceptions.Exit(STOPPED) from None
