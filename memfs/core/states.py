"""The states of a block, derived from what is known of it. The state machine is MemGPT's."""

from __future__ import annotations

from datetime import UTC, datetime

STALE_DAYS = 30

_CONTENT = {"append": "populated", "create": "populated", "insert": "populated",
            "remove": "reduced"}  # fmt: skip


def content(value: str, last_operation: str) -> str:
    """Return empty, populated, modified or reduced."""
    if not value.strip():
        return "empty"
    return _CONTENT.get(last_operation, "modified" if last_operation else "populated")


def freshness(updated_at: str, now: str) -> str:
    """Return active, or stale after `STALE_DAYS` without an update."""
    try:
        age = _moment(now) - _moment(updated_at)
    except ValueError:
        return "active"
    return "stale" if age.days >= STALE_DAYS else "active"


def _moment(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
