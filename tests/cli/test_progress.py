"""The line that shows how far something is: on terminals only, and gone afterwards."""

import io
import sys

import pytest

from memfs.cli import progress
from memfs.cli.layout import format_duration


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setenv("NO_COLOR", "1")
    return made


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("memfs.cli.progress.time.monotonic", lambda: now[0])
    return now


def test_bytes_are_shown_with_rate_and_time_left(
    monkeypatch: pytest.MonkeyPatch, clock: list[float]
) -> None:
    shown = terminal(monkeypatch)
    with progress.show_stages(in_bytes=("reading",)) as stage:
        tick = stage("reading", 1_000_000_000)
        clock[0] += 2
        tick(250_000_000)
        tick(1)  # too soon to be shown
        indexing = stage("indexing", 0)
        clock[0] += 1
        indexing(4200)
    bar = "███░░░░░░░░░  25%"
    assert shown.getvalue() == (
        f"\rreading  {bar}  250.0 MB of 1.0 GB  125.0 MB/s  6 s left\x1b[K\r\x1b[K"
        "\rindexing  4,200  4,200/s\x1b[K\r\x1b[K"
    )


def test_the_rate_is_that_of_lately(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    terminal(monkeypatch)
    tick = progress.Progress("reading", 3000, "{:,.0f}".format)
    tick(1000)  # was read before
    for _ in range(120):
        clock[0] += 0.125
        tick(1)
    assert tick.render_line().endswith("1,120 of 3,000  8/s  3:55 min left")


def test_nothing_is_shown_where_no_person_looks(
    capsys: pytest.CaptureFixture[str], clock: list[float]
) -> None:
    with progress.show_progress(10, "timing") as tick:
        clock[0] += 1
        tick(10)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.2, "0 s"), (59.4, "59 s"), (200, "3:20 min"), (7500, "2:05 h")]
)
def test_durations(seconds: float, shown: str) -> None:
    assert format_duration(seconds) == shown
