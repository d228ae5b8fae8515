"""Search recall, archive, blocks, facts and static entries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Generic

import msgspec

from memfs.core.errors import MemfsError, UsageError
from memfs.core.records import Hit, SessionHit
from memfs.ipc import service_client
from memfs.search.engine import AnyHit, Filter, HitPage, Mode

if TYPE_CHECKING:
    from collections.abc import Callable

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
class SearchAnswer(Generic[AnyHit]):
    """What the service found, and what is to be said of how it searched."""

    note: str
    page: HitPage[AnyHit]


def run(
    index: IndexSession, query: str, *, mode: Mode | None, only: Filter, limit: int, page: int
) -> HitPage[Hit]:
    """Return one page (from 1) of hits, after everything that is new was indexed.

    Without a mode by words and meaning; by words alone where `embedding` is none, or the model
    cannot be used (`index.note` says so). Raises `MemfsError` for a mode that is turned off. The
    service of the user is asked first, where there is one.
    """
    request = _request(index, query, mode, only, limit, page)
    return _ask_service(index, "hits", request, SearchAnswer[Hit]) or _search(index, request)


def search_sessions(
    index: IndexSession, query: str, *, mode: Mode | None, only: Filter, limit: int, page: int
) -> HitPage[SessionHit]:
    """Return one page (from 1) of the sessions that say most about it, with their best turns."""
    request = _request(index, query, mode, only, limit, page)
    found = _ask_service(index, "sessions", request, SearchAnswer[SessionHit])
    return found or _search_sessions(index, request)


def list_dated(index: IndexSession, *, only: Filter, limit: int, page: int) -> HitPage[Hit]:
    """Return one page (from 1) of what a filter lets through, in the order of time."""
    offset = (page - 1) * limit
    return index.ask("text", lambda engine: engine.list_by_time(only, limit=limit, offset=offset))


def read_request(data: bytes) -> SearchRequest:
    """Return what the service is asked. Raises `ValueError` for what is no such question."""
    return msgspec.json.decode(data, type=SearchRequest)


def answer_request(index: IndexSession, kind: str, request: SearchRequest) -> bytes:
    """Return what the service answers. Raises `MemfsError`."""
    page = _search_sessions(index, request) if kind == "sessions" else _search(index, request)
    return msgspec.json.encode({"note": index.note, "page": page})


def _request(
    index: IndexSession, query: str, mode: Mode | None, only: Filter, limit: int, page: int
) -> SearchRequest:
    place = index.place
    user = place.user.root if place.user else ""
    return SearchRequest(place.home.root, user, query, mode, only, limit, page)


def _ask_service(
    index: IndexSession, kind: str, request: SearchRequest, form: type[SearchAnswer[AnyHit]]
) -> HitPage[AnyHit] | None:
    """Return what the service finds; None if this process is to search by itself."""
    if not service_client.is_listening():
        return None
    query = request.query.encode("utf-8", "replace").decode()  # no halves of characters
    body = msgspec.json.encode(replace(request, query=query))
    data = service_client.ask("search", [kind], body, _WAIT, lasting=True)
    try:
        found = msgspec.json.decode(data, type=form) if data else None
    except (ValueError, msgspec.MsgspecError):  # what does not read that does its own work
        return None
    if found is None:
        return None
    index.note = found.note
    return found.page


def _search(index: IndexSession, request: SearchRequest) -> HitPage[Hit]:
    return index.ask(*_bind(index, request, "search"))


def _search_sessions(index: IndexSession, request: SearchRequest) -> HitPage[SessionHit]:
    return index.ask(*_bind(index, request, "search_sessions"))


def _bind(
    index: IndexSession, request: SearchRequest, method: str
) -> tuple[Mode, Callable[[Engine], Any]]:
    """Return the mode of a search, and what makes it with an engine."""
    chosen = _choose_mode(index, request.query, request.mode)

    def search(engine: Engine) -> Any:
        mode = "text" if engine.vectors is None else chosen  # it does what it can
        offset = (request.page - 1) * request.limit
        call = getattr(engine, method)
        return call(request.query, mode=mode, only=request.only, limit=request.limit, offset=offset)

    return chosen, search


def _choose_mode(index: IndexSession, query: str, mode: Mode | None) -> Mode:
    """Return the mode that is wanted. Raises `MemfsError` for one that is turned off."""
    if not query.strip():
        raise UsageError("the query is empty", "say what to look for")
    wanted = index.model()
    if wanted.off and mode in ("hybrid", "semantic"):
        raise MemfsError(
            f"embedding is off ({wanted.model.said}): there is no search by meaning",
            "leave --mode out to search by words; memfs model use bundled turns it on",
        )
    return "text" if wanted.off else mode or "hybrid"


def parse_day(text: str, *, end: bool) -> int:
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
        raise UsageError(
            f"{text!r} is not a date", "write 2026-05-03, yesterday, or 7d for seven days ago"
        ) from error


def _whole_day(word: str) -> date | None:
    """Return the day a word names; None for a time of a day."""
    back = {"today": 0, "yesterday": 1}.get(word)
    if back is None and word.endswith("d") and word[:-1].isdecimal():
        back = int(word[:-1])
    if back is not None:
        return datetime.now().astimezone().date() - timedelta(days=back)
    return date.fromisoformat(word) if "t" not in word and " " not in word else None
