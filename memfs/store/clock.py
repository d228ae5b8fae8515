"""Now, as everything that is written names it. `MEMFS_NOW` fixes it, for reproducible screens."""

import os
from datetime import UTC, datetime


def now() -> str:
    """Return the time in UTC, ISO 8601 to the second: 2026-11-20T04:30:00Z."""
    fixed = os.environ.get("MEMFS_NOW")
    return fixed or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment() -> datetime:
    """Return the time, to the second."""
    return datetime.fromisoformat(now())


def seconds() -> float:
    """Return the time in seconds since 1970."""
    return moment().timestamp()


def parse(at: str) -> float:
    """Return the seconds since 1970 of a time in ISO 8601; 0 for what is none."""
    try:
        return datetime.fromisoformat(at).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def unique() -> str:
    """Return a new id: 12 hex digits of milliseconds, so that ids sort by time, and 8 random."""
    milliseconds = int(datetime.now(UTC).timestamp() * 1000)
    return f"{milliseconds:012x}{os.urandom(4).hex()}"
