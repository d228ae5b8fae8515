"""The states of a block, derived from its journal. The state machine is MemGPT's."""

from __future__ import annotations

from datetime import UTC, datetime

_CONTENT = {
    "append": "populated",
    "create": "populated",
    "insert": "populated",
    "page-in": "populated",
    "remove": "reduced",
    "page-out": "reduced",
}


def describe_content(value: str, last_operation: str) -> str:
    """Return empty, populated, modified or reduced."""
    if not value.strip():
        return "empty"
    return _CONTENT.get(last_operation, "modified" if last_operation else "populated")


def freshness(referenced: str, now: str, days: int, *, paged_out: bool = False) -> str:
    """Return archived for a block that was paged out, else active, or stale.

    Stale: not referenced (edited, read, paged in) for so many days; with 0 days nothing is.
    """
    if paged_out:
        return "archived"
    try:
        age = _parse_time(now) - _parse_time(referenced)
    except ValueError:
        return "active"
    return "stale" if 0 < days <= age.days else "active"


def _parse_time(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
