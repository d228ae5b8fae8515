"""Times as a person reads them: in the zone of this machine, which a time of day names."""

from __future__ import annotations

from datetime import UTC, datetime


def parse(at: str) -> datetime | None:
    """Return an ISO 8601 time in the zone of this machine; None for a text that is none.

    A time without a zone, or a day alone, is none either: it is not known when that was.
    """
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return None
    return moment.astimezone() if moment.tzinfo else None


def format_day(at: str | float) -> str:
    """Return the day of a time as `format_time` takes it, 2026-05-03; another text is cut."""
    moment = _place(at)
    return moment.strftime("%Y-%m-%d") if moment else str(at)[:10]


def format_time(at: str | float) -> str:
    """Return a time, or seconds since 1970, as 2026-05-03 14:05 CEST; another text as it is."""
    moment = _place(at)
    return moment.strftime("%Y-%m-%d %H:%M %Z") if moment else str(at)


def _place(at: str | float) -> datetime | None:
    return parse(at) if isinstance(at, str) else datetime.fromtimestamp(at, UTC).astimezone()
