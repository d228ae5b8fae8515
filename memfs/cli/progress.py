"""Progress bars on stderr, where that is a terminal, and work that Ctrl-C ends."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

import click

from memfs.cli import console, layout
from memfs.cli.layout import format_duration, format_size
from memfs.core.errors import STOPPED, StoppedError
from memfs.core.injection_signs import reveal_hidden

_LONGEST = 1.5  # seconds


@contextmanager
def show_progress(length: int, label: str) -> Iterator[Callable[[int], object]]:
    """Show a progress bar on stderr, if that is a terminal; yields the function to advance it."""
    with show_stages() as stage:
        yield stage(label, length)


@contextmanager
def show_stages(
    in_bytes: tuple[str, ...] = (), check: Callable[[], object] = lambda: None
) -> Iterator[Callable[[str, int], Progress]]:
    """Show one progress bar after another: the yielded `stage(label, length)` begins the next.

    The stages in `in_bytes` count bytes; a length of 0 is unknown. `check` is called at each
    progress (see `interruption`).
    """
    shown: list[Progress] = []

    def stage(label: str, length: int) -> Progress:
        if shown:
            shown[-1].clear()
        shown.append(
            Progress(label, length, format_size if label in in_bytes else "{:,.0f}".format, check)
        )
        return shown[-1]

    try:
        yield stage
    finally:
        if shown:
            shown[-1].clear()


class Progress:
    """One line of a terminal: how much is done, how fast lately, and how long the rest takes."""

    _EVERY = 0.1  # seconds
    _LATELY = 100  # lines that were shown: ten seconds

    def __init__(
        self,
        label: str,
        length: int,
        unit: Callable[[float], str],
        check: Callable[[], object] = lambda: None,
    ) -> None:
        self._check = check
        self._label = label
        self._length = length
        self._unit = unit
        self._done = 0
        self._shown = False
        self._lately = deque([(time.monotonic(), 0)], self._LATELY)

    def __call__(self, more: int) -> None:
        self._check()
        self._done += more
        now = time.monotonic()
        if sys.stderr.isatty() and now - self._lately[-1][0] >= self._EVERY:
            self._lately.append((now, self._done))
            sys.stderr.write(f"\r{reveal_hidden(self.render_line())}\x1b[K")
            sys.stderr.flush()
            self._shown = True

    def is_done(self) -> bool:
        """Tell whether all that was to be done is done; of an unknown length nothing is."""
        return 0 < self._length <= self._done

    def render_line(self) -> str:
        """Render label, bar, amount, rate and time left."""
        (first, before), (last, now) = self._lately[0], self._lately[-1]
        rate = (now - before) / (last - first) if last > first else 0.0
        done, speed = self._unit(now), f"{self._unit(rate)}/s"
        if not self._length:
            return _join_fitting([self._label, done, speed])
        share = min(1.0, now / self._length)
        filled = round(share * layout.BAR)
        drawn = console.style("█" * filled, "green", err=True) + "░" * (layout.BAR - filled)
        left = format_duration((self._length - now) / rate) + " left" if rate and share < 1 else ""
        amount = f"{done} of {self._unit(self._length)}"
        return _join_fitting([self._label, f"{drawn} {share:4.0%}", amount, speed, left])

    def clear(self) -> None:
        """Erase the line."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False


def _join_fitting(parts: list[str]) -> str:
    while len(parts) > 1 and console.width("  ".join(parts)) >= console.columns():
        parts = parts[:-1]
    return "  ".join(parts)


@contextmanager
def _deferred_interrupt(is_busy: Callable[[], bool]) -> Iterator[Callable[[], None]]:
    """Note the first Ctrl-C, for which the yielded function raises `StoppedError`.

    Whoever works calls it where nothing is half-done. If that does not come soon, at the second
    Ctrl-C, or unless `is_busy`, the work is interrupted where it is: it waits for something, or
    something hangs.
    """
    noted = False

    def note(_number: int, _frame: FrameType | None) -> None:
        nonlocal noted
        if noted or not is_busy():
            raise KeyboardInterrupt
        noted = True
        _set_alarm(_LONGEST)
        if os.isatty(2):  # not through a stream, which may be in the middle of a write
            os.write(2, b"\r\x1b[Kstopping; press Ctrl-C again to stop at once\n")

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
    describe: Callable[[], str], in_bytes: tuple[str, ...] = (), *, reads: bool = False
) -> Iterator[Callable[[str, int], Progress]]:
    """Show progress (see `progress.show_stages`) of work that Ctrl-C stops: exit code 130.

    `describe` says what is safe then, and how to go on. `reads`: only the stages write; all else
    stops at once, also what was done by then.
    """
    stages: list[Progress] = []

    def is_busy() -> bool:
        return not reads or bool(stages and not stages[-1].is_done())

    try:
        with _deferred_interrupt(is_busy) as check, show_stages(in_bytes, check) as show:

            def begin(label: str, length: int) -> Progress:
                stages.append(show(label, length))
                return stages[-1]

            yield begin
            if reads:
                check()
    except KeyboardInterrupt:
        console.talk(f"stopped: {describe()}")
        raise click.exceptions.Exit(STOPPED) from None
