"""Search recall, archive, blocks, facts and static entries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

import msgspec

from memfs.core.errors import USAGE, MemfsError
from memfs.ipc import service_client
from memfs.search.engine import Conversations, Filter, HitPage, Mode  # noqa: TC001 - read from JSON

__all__ = [
    "KINDS",
    "SearchRequest",
    "answer_request",
    "ask_service",
    "day",
    "run",
    "search_dated",
    "sessions",
]

if TYPE_CHECKING:
    from memfs.recall.index_session import IndexSession
    from memfs.search.engine import Engine

KINDS = {
    "recall": "message",
    "archive": "passage",
    "blocks": "block",
    "facts": "fact",
    "static": "static",
}
_WAIT = 3.0  # seconds for the service, which may have to read what is new first


@dataclass(frozen=True)
class SearchRequest:
    """A search that the service of the user is asked for, in the store at `root`."""

    root: str
    user: str
    query: str
    mode: Mode | None
    only: Filter
    limit: int
    page: int


@dataclass(frozen=True)
class _Answered:
    """What it found: one of them, and what is to be said of how it searched."""

    note: str
    page: HitPage | None = None
    conversations: Conversations | None = None


def run(
    kept: IndexSession, query: str, *, mode: Mode | None, only: Filter, limit: int, page: int
) -> HitPage:
    """Return one page (from 1) of hits, after everything that is new was indexed.

    Without a mode by words and meaning; by words alone where `embedding` is none, or the model
    cannot be used (`kept.note` says so). Raises `MemfsError` for a mode that is turned off. The
    service of the user is asked first, where there is one.
    """
    wanted = _asked(kept, query, mode, only, limit, page)
    found = _served(kept, "hits", wanted)
    return found.page if found and found.page else _run(kept, wanted)


def sessions(
    kept: IndexSession, query: str, *, mode: Mode | None, only: Filter, limit: int, page: int
) -> Conversations:
    """Return one page (from 1) of the sessions that say most about it, with their best turns."""
    wanted = _asked(kept, query, mode, only, limit, page)
    found = _served(kept, "sessions", wanted)
    return found.conversations if found and found.conversations else _sessions(kept, wanted)


def search_dated(kept: IndexSession, *, only: Filter, limit: int, page: int) -> HitPage:
    """Return one page (from 1) of what a filter lets through, in the order of time."""
    offset = (page - 1) * limit
    return kept.ask("text", lambda engine: engine.dated(only, limit=limit, offset=offset))


def ask_service(data: bytes) -> SearchRequest:
    """Return what the service is asked. Raises `ValueError` for what is no such question."""
    return msgspec.json.decode(data, type=SearchRequest)


def answer_request(kept: IndexSession, kind: str, wanted: SearchRequest) -> bytes:
    """Return what the service answers. Raises `MemfsError`."""
    if kind == "sessions":
        found = _Answered(kept.note, conversations=_sessions(kept, wanted))
    else:
        found = _Answered(kept.note, page=_run(kept, wanted))
    return msgspec.json.encode(replace(found, note=kept.note))


def _asked(
    kept: IndexSession, query: str, mode: Mode | None, only: Filter, limit: int, page: int
) -> SearchRequest:
    place = kept.place
    user = place.user.root if place.user else ""
    return SearchRequest(place.home.root, user, query, mode, only, limit, page)


def _served(kept: IndexSession, kind: str, wanted: SearchRequest) -> _Answered | None:
    """Ask the service; None if this process is to search by itself."""
    if not service_client.is_listening():
        return None
    query = wanted.query.encode("utf-8", "replace").decode()  # no halves of characters
    body = msgspec.json.encode(replace(wanted, query=query))
    data = service_client.ask("search", [kind], body, _WAIT, lasting=True)
    try:
        found = msgspec.json.decode(data, type=_Answered) if data else None
    except (ValueError, msgspec.MsgspecError):  # what does not read that does its own work
        return None
    if found:
        kept.note = found.note
    return found


def _run(kept: IndexSession, wanted: SearchRequest) -> HitPage:
    chosen = _chosen(kept, wanted.query, wanted.mode)
    return kept.ask(
        chosen,
        lambda engine: engine.search(
            wanted.query,
            mode=_possible(engine, chosen),
            only=wanted.only,
            limit=wanted.limit,
            offset=(wanted.page - 1) * wanted.limit,
        ),
    )


def _sessions(kept: IndexSession, wanted: SearchRequest) -> Conversations:
    chosen = _chosen(kept, wanted.query, wanted.mode)
    return kept.ask(
        chosen,
        lambda engine: engine.sessions(
            wanted.query,
            mode=_possible(engine, chosen),
            only=wanted.only,
            limit=wanted.limit,
            offset=(wanted.page - 1) * wanted.limit,
        ),
    )


def _chosen(kept: IndexSession, query: str, mode: Mode | None) -> Mode:
    """Return the mode that is wanted. Raises `MemfsError` for one that is turned off."""
    if not query.strip():
        raise MemfsError("the query is empty", "say what to look for", USAGE)
    wanted = kept.model()
    if wanted.off and mode in ("hybrid", "semantic"):
        raise MemfsError(
            f"embedding is off ({wanted.model.said}): there is no search by meaning",
            "leave --mode out to search by words; memfs model use bundled turns it on",
        )
    return "text" if wanted.off else mode or "hybrid"


def _possible(engine: Engine, chosen: Mode) -> Mode:
    """Return the mode that an engine can search in."""
    return "text" if engine.vectors is None else chosen


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
