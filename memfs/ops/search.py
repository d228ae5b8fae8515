"""Search recall, archive and blocks."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from memfs.core.errors import USAGE, MemfsError
from memfs.memory.kept import Kept

__all__ = ["KINDS", "Kept", "dated", "day", "run", "sessions"]

if TYPE_CHECKING:
    from memfs.search.engine import Conversations, Engine, Filter, Mode, Page

KINDS = {"recall": "message", "archive": "passage", "blocks": "block"}


def run(
    kept: Kept, query: str, *, mode: Mode | None, only: Filter, limit: int, page: int
) -> Page:  # fmt: skip
    """Return one page (from 1) of hits, after everything that is new was indexed.

    Without a mode by words and meaning; by words alone where `embedding` is none, or the model
    cannot be used (`kept.note` says so). Raises `MemfsError` for a mode that is turned off.
    """
    engine, chosen = _ready(kept, query, mode)
    return engine.search(query, mode=chosen, only=only, limit=limit, offset=(page - 1) * limit)


def sessions(
    kept: Kept, query: str, *, mode: Mode | None, only: Filter, limit: int, page: int
) -> Conversations:  # fmt: skip
    """Return one page (from 1) of the sessions that say most about it, with their best turns."""
    engine, chosen = _ready(kept, query, mode)
    return engine.sessions(query, mode=chosen, only=only, limit=limit, offset=(page - 1) * limit)


def dated(kept: Kept, *, only: Filter, limit: int, page: int) -> Page:
    """Return one page (from 1) of what a filter lets through, in the order of time."""
    return kept.engine("text").dated(only, limit=limit, offset=(page - 1) * limit)


def _ready(kept: Kept, query: str, mode: Mode | None) -> tuple[Engine, Mode]:
    """Return the engine, and the mode that it can search in."""
    if not query.strip():
        raise MemfsError("the query is empty", "say what to look for", USAGE)
    wanted = kept.model()
    if wanted.off and mode in ("hybrid", "semantic"):
        raise MemfsError(
            f"embedding is off ({wanted.model.said}): there is no search by meaning",
            "leave --mode out to search by words; memfs model use bundled turns it on",
        )
    chosen: Mode = "text" if wanted.off else mode or "hybrid"
    engine = kept.engine(chosen)
    return engine, "text" if engine.vectors is None else chosen


def day(text: str, *, end: bool) -> int:
    """Return the first (or, with `end`, the last) second of a local day, or of a given time.

    Takes YYYY-MM-DD, ISO 8601 times, `today`, `yesterday` and `Nd` (N days ago).
    """
    word = text.strip().lower()
    try:
        whole = _whole_day(word)
        if whole is None:
            return int(datetime.fromisoformat(text.strip()).astimezone().timestamp())
        first = datetime.combine(whole + timedelta(days=end), time()).astimezone()
        return int(first.timestamp()) - end
    except (ValueError, OverflowError, OSError) as error:
        raise MemfsError(
            f"{text!r} is not a date",
            "write 2026-05-03, yesterday, or 7d for seven days ago",
            USAGE,
        ) from error


def _whole_day(word: str) -> date | None:
    """Return the day a word names; None for a time of a day."""
    back = {"today": 0, "yesterday": 1}.get(word)
    if back is None and word.endswith("d") and word[:-1].isdecimal():
        back = int(word[:-1])
    if back is not None:
        return datetime.now().astimezone().date() - timedelta(days=back)
    return date.fromisoformat(word) if "t" not in word and " " not in word else None
