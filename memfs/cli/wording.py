"""Times, spans, numbers and paths as people read them."""

from __future__ import annotations

import os
from datetime import UTC, datetime


def format_duration(seconds: float) -> str:
    """Write a time span for people: 40 s, 3:20 min, 2:05 h."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02} h"


def format_age(at: str) -> str:
    """Return how long ago an ISO time was: `just now`, `5 min ago`, `3 h ago`, else the date."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return at or "-"
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    fixed = os.environ.get("MEMFS_NOW")
    now = datetime.fromisoformat(fixed) if fixed else datetime.now(UTC)
    seconds = (now - moment).total_seconds()
    if 0 <= seconds < 60:
        return "just now"
    if 0 <= seconds < 3600:
        return f"{seconds // 60:.0f} min ago"
    if 0 <= seconds < 86400:
        return f"{seconds // 3600:.0f} h ago"
    return moment.astimezone().strftime("%Y-%m-%d")


def format_size(count: float) -> str:
    """Write a number of bytes for people."""
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def shorten_path(path: str) -> str:
    """Write a path with `~` for the home folder."""
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path == home or path.startswith(home + os.sep) else path
