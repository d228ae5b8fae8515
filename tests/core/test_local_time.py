"""Times as people read them: one zone, and it is named."""

import time

import pytest

from memfs.core.formats import format_day, format_time


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("at", "day", "shown"),
    [
        ("2026-05-03T20:30:00.123Z", "2026-05-04", "2026-05-04 05:30 JST"),
        ("2026-05-04T01:30:00+02:00", "2026-05-04", "2026-05-04 08:30 JST"),
        (1777840200.0, "2026-05-04", "2026-05-04 05:30 JST"),
        ("2026-05-03", "2026-05-03", "2026-05-03"),
        ("2026-05-03T20:30:00", "2026-05-03", "2026-05-03T20:30:00"),
        ("last week, or so", "last week,", "last week, or so"),
        ("", "", ""),
    ],
)
@pytest.mark.usefixtures("tokyo")
def test_a_time_is_of_the_zone_here(at: str | float, day: str, shown: str) -> None:
    assert (format_day(at), format_time(at)) == (day, shown)
