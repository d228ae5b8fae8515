"""Search recall, archive, blocks, facts, static entries, data sources, and imported chats."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, get_args

import msgspec

from memfs import hosts
from memfs.core.errors import DamagedError, MemfsError, UsageError
from memfs.core.records import KINDS, Hit, SessionHit
from memfs.ipc import client
from memfs.search import federated_search
from memfs.search.engine import AnyHit, Engine, Filter, HitPage, Mode
from memfs.search.federated_search import IndexSearch

if TYPE_CHECKING:
    from memfs.recall.open_store import OpenStore

_ALLOWED = {
    "kinds": tuple(KINDS.values()),
    "roles": ("user", "assistant", "tool"),
    "hosts": hosts.RECORDED,
}
_TEXTS = ("sessions", "projects", "branches", "tags", "any_tags", "speakers", "but_sessions")
MOST = 10_000  # hits on a page, and pages
_FAR = 1 << 40  # seconds; a larger time is a mistake
_WAIT = 3.0  # seconds for the service, which may index first


@dataclass(frozen=True)
class SearchRequest:
    """A search in the store at `root`, as sent to the user's service."""

    root: str
    user: str
    query: str
    mode: Mode | None
    only: Filter
    limit: int
    page: int


@dataclass(frozen=True)
class SearchAnswer(Generic[AnyHit]):
    """The hits that the service found, and a note on how it searched."""

    note: str
    page: HitPage[AnyHit]


def run(
    store: OpenStore, query: str, *, mode: Mode | None, only: Filter, limit: int, page: int
) -> HitPage[Hit]:
    """Return one page (from 1) of hits, after new documents were indexed.

    The default mode is by words and meaning; by words alone if `embedding` is none, or the model
    cannot be used (`store.note` says so). Raises `MemfsError` for a mode that is turned off, and
    `UsageError` for a malformed request. The user's service searches, if it runs.
    """
    request = _build_request(store, query, mode, only, limit, page)
    return _ask_service(store, "hits", request, SearchAnswer[Hit]) or _search(store, request)


def search_sessions(
    store: OpenStore, query: str, *, mode: Mode | None, only: Filter, limit: int, page: int
) -> HitPage[SessionHit]:
    """Return one page (from 1) of the most relevant sessions, with their best turns."""
    request = _build_request(store, query, mode, only, limit, page)
    found = _ask_service(store, "sessions", request, SearchAnswer[SessionHit])
    return found or _search_sessions(store, request)


def list_by_date(store: OpenStore, *, only: Filter, limit: int, page: int) -> HitPage[Hit]:
    """Return one page (from 1) of the documents that pass a filter, in order of time."""
    _check_request(None, only, limit, page)
    first, end = (page - 1) * limit, page * limit
    others = store.list_searches("text", only)
    if not others:
        return store.ask("text", lambda e: e.list_by_time(only, limit=limit, offset=first))
    own = store.ask("text", lambda engine: engine.list_by_time(only, limit=end))
    more = [each.engine.list_by_time(each.only or Filter(), limit=end) for each in others]
    hits = heapq.merge(*(each.hits for each in [own, *more]), key=lambda hit: hit.at)
    return HitPage([*islice(hits, first, end)], own.total + sum(each.total for each in more))


def read_request(data: bytes) -> SearchRequest:
    """Decode a request to the service. Raises `ValueError` if it is malformed."""
    return msgspec.json.decode(data, type=SearchRequest)


def answer_request(store: OpenStore, kind: str, request: SearchRequest) -> bytes:
    """Search, and encode the answer of the service. Raises `MemfsError`."""
    page = _search_sessions(store, request) if kind == "sessions" else _search(store, request)
    return msgspec.json.encode({"note": store.note, "page": page})


def _build_request(
    store: OpenStore, query: str, mode: Mode | None, only: Filter, limit: int, page: int
) -> SearchRequest:
    if not isinstance(query, str) or not query.strip():
        empty = "empty" if isinstance(query, str) else f"{query!r}, expected a text"
        raise UsageError(f"the query is {empty}", "say what to look for")
    _check_request(mode, only, limit, page)
    place = store.place
    user = place.user.root if place.user else ""
    return SearchRequest(place.home.root, user, query, mode, only, limit, page)


def _check_request(mode: Mode | None, only: Filter, limit: int, page: int) -> None:
    """Raise `UsageError`, with what is allowed, for arguments that are none of it."""
    if mode is not None and mode not in get_args(Mode):
        raise UsageError(f"mode is {mode!r}, expected {_list_words(get_args(Mode))}")
    _check_number("limit", limit, 1, MOST)
    _check_number("page", page, 1, MOST)
    check_filter(only)


def check_filter(only: Filter) -> None:
    """Raise `UsageError`, with what is allowed, for a filter that has something else."""
    if not isinstance(only, Filter):
        raise UsageError(f"only is {only!r}, expected a Filter", 'Filter(kinds=["passage"])')
    for name in (*_ALLOWED, *_TEXTS):
        _check_words(name, getattr(only, name), _ALLOWED.get(name))
    _check_number("importance", only.importance, 0, 10)
    for name, at in (("since", only.since), ("until", only.until)):
        if at is not None and (not isinstance(at, int) or abs(at) > _FAR):
            raise UsageError(
                f"{name} is {at!r}, expected seconds since 1970",
                f'days are given beside the filter: {name}="2026-05-03", "yesterday", "7d"',
            )


def _check_words(name: str, given: object, allowed: Sequence[str] | None) -> None:
    if not isinstance(given, list | tuple) or not all(isinstance(each, str) for each in given):
        hint = f"{name}=[{given!r}]" if isinstance(given, str) else ""
        raise UsageError(f"{name} is {given!r}, expected a list of texts", hint)
    wrong = [each for each in given if allowed is not None and each not in allowed]
    if wrong and allowed is not None:
        raise UsageError(f"{name} has {wrong[0]!r}, expected {_list_words(allowed)}")


def _check_number(name: str, given: object, least: int, most: int) -> None:
    if not isinstance(given, int) or isinstance(given, bool) or not least <= given <= most:
        raise UsageError(f"{name} is {given!r}, expected {least:,} to {most:,}")


def _list_words(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _ask_service(
    store: OpenStore, kind: str, request: SearchRequest, form: type[SearchAnswer[AnyHit]]
) -> HitPage[AnyHit] | None:
    """Return the hits that the service finds; None if this process is to search itself."""
    if not client.is_listening():
        return None
    query = request.query.encode("utf-8", "replace").decode()  # no lone surrogates
    body = msgspec.json.encode(replace(request, query=query))
    data = client.ask("search", [kind], body, _WAIT, long_lived=True)
    try:
        found = msgspec.json.decode(data, type=form) if data else None
    except (ValueError, msgspec.MsgspecError):  # of another version: search here
        return None
    if found is None:
        return None
    store.note = found.note
    return found.page


def _search(store: OpenStore, request: SearchRequest) -> HitPage[Hit]:
    return _search_indexes(store, request, request.only, "search")


def _search_sessions(store: OpenStore, request: SearchRequest) -> HitPage[SessionHit]:
    wanted = replace(request.only, kinds=(federated_search.MESSAGE,))
    return _search_indexes(store, request, wanted, "search_sessions")


def _search_indexes(
    store: OpenStore, request: SearchRequest, wanted: Filter, method: str
) -> HitPage[Any]:
    """Search the index of the place, and with it what passes `wanted` of the others."""
    chosen = _choose_mode(store, request.mode)
    others = store.list_searches(chosen, wanted)
    only = federated_search.drop_sources(request.only)
    paging = {"limit": request.limit, "offset": (request.page - 1) * request.limit}

    def search(engine: Engine | None) -> HitPage[Any]:
        own = [] if engine is None or only is None else [IndexSearch(engine, only)]
        call = getattr(federated_search, method)
        try:
            found: HitPage[Any] = call([*own, *others], request.query, mode=chosen, **paging)
        except DamagedError:
            if not store.remove_damaged(lambda each: each.search(request.query)):
                raise
            again = store.list_searches(chosen, wanted)
            found = call([*own, *again], request.query, mode=chosen, **paging)
        return found

    def search_alone(engine: Engine) -> HitPage[Any]:
        mode = "text" if engine.vectors is None else chosen  # no model: by words
        found: HitPage[Any] = getattr(engine, method)(request.query, mode=mode, only=only, **paging)
        return found

    if only is None:
        store.note = store.source_note
        return search(None)
    page = store.ask(chosen, search if others else search_alone)
    store.note = "; ".join(filter(None, (store.note, store.source_note)))
    return page


def _choose_mode(store: OpenStore, mode: Mode | None) -> Mode:
    """Return the mode to search in. Raises `MemfsError` for one that is turned off."""
    model = store.load_model()
    if model.off and mode in ("hybrid", "semantic"):
        raise MemfsError(
            f"embedding is off ({model.model.said}): there is no search by meaning",
            "leave --mode out to search by words; memfs model use bundled turns it on",
        )
    return "text" if model.off else mode or "hybrid"


def parse_day(text: str, *, end: bool) -> int:
    """Return the first (or, with `end`, the last) second of a local day, or of a given time.

    Takes YYYY-MM-DD, ISO 8601 times, `today`, `yesterday` and `Nd` (N days ago).
    """
    word = text.strip().lower()
    try:
        whole = _parse_date(word)
        if whole is None:
            return int(datetime.fromisoformat(text.strip()).astimezone().timestamp())
        first = datetime.combine(whole + timedelta(days=end), time()).astimezone()
        return int(first.timestamp()) - end
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(
            f"{text!r} is not a date", "write 2026-05-03, yesterday, or 7d for seven days ago"
        ) from error


def _parse_date(word: str) -> date | None:
    """Parse a word or a date into a day; None for a time of day."""
    back = {"today": 0, "yesterday": 1}.get(word)
    if back is None and word.endswith("d") and word[:-1].isdecimal():
        back = int(word[:-1])
    if back is not None:
        return datetime.now().astimezone().date() - timedelta(days=back)
    return date.fromisoformat(word) if "t" not in word and " " not in word else None
