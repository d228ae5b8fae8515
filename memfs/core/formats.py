"""Numbers and times as people read them: with a noun; in the zone of this machine, named."""

from datetime import UTC, datetime, timedelta


def parse(at: str) -> datetime | None:
    """Return an ISO 8601 time in the zone of this machine; None without a time or a zone."""
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


def format_age(at: str, now: datetime, days: int = 1) -> str:
    """Return how long ago an ISO time was: `just now`, `5 min ago`, `3 h ago`, `2 days ago`.

    From `days` days on it is the day itself; another text is as it is, "" is "-".
    """
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return at or "-"
    age = now - (moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    if not timedelta(minutes=-1) <= age < timedelta(days=days):
        return format_day(moment.timestamp())
    age = max(age, timedelta())  # clocks differ a little
    if age.days:
        return f"{format_count(age.days, 'day')} ago"
    if age.seconds < 60:
        return "just now"
    unit, seconds = ("min", 60) if age.seconds < 3600 else ("h", 3600)
    return f"{age.seconds // seconds} {unit} ago"


def _place(at: str | float) -> datetime | None:
    return parse(at) if isinstance(at, str) else datetime.fromtimestamp(at, UTC).astimezone()


def format_count(number: int, noun: str = "") -> str:
    """Write a number, with its noun if one is given: 1 file, 2 files, 2 entries."""
    if not noun:
        return f"{number:,}"
    if number != 1:
        ends_in_y = noun.endswith("y") and noun[-2:-1] not in ("a", "e", "o", "u")
        noun = f"{noun[:-1]}ies" if ends_in_y else f"{noun}s"
    return f"{number:,} {noun}"
