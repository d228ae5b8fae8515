"""Search recall, archive, blocks, facts, static entries, data sources, and imported chats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, get_args

from memfs import hosts
from memfs.core.errors import UsageError
from memfs.core.hits import Hit, SessionHit
from memfs.core.records import KINDS
from memfs.ipc import service_query
from memfs.search.request import Filter, HitPage, Mode, SearchAnswer, SearchRequest
from memfs.store.blocks import Place

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
_FORMS: dict[str, Any] = {  # of the answers of the service: note; hits, total, sure
    "hits": tuple[str, tuple[list[Hit], int, bool]],
    "sessions": tuple[str, tuple[list[SessionHit], int, bool]],
}


def run(
    store: OpenStore, query: str, *, mode: Mode | None, only: Filter, limit: int, page: int
) -> HitPage[Hit]:
    """Return one page (from 1) of hits, after new documents were indexed.

    The default mode is by words and meaning; by words alone if `embedding` is none, or the model
    cannot be used (`store.note` says so). Raises `MemfsError` for a mode that is turned off, and
    `UsageError` for a malformed request. The user's service searches, if it runs.
    """
    return _run(store, "hits", build_request(query, mode, only, limit, page))


def search_sessions(
    store: OpenStore, query: str, *, mode: Mode | None, only: Filter, limit: int, page: int
) -> HitPage[SessionHit]:
    """Return one page (from 1) of the most relevant sessions, with their best turns."""
    return _run(store, "sessions", build_request(query, mode, only, limit, page))


def _run(store: OpenStore, kind: str, request: SearchRequest) -> HitPage[Any]:
    found = find(store.place, kind, request, lambda: store)
    store.note = found.note
    return found.page


def find(
    place: Place, kind: str, request: SearchRequest, open_store: Callable[[], OpenStore]
) -> SearchAnswer[Any]:
    """Return the answer of the user's service; without one, this process opens the store."""
    fields = request._replace(only=asdict(request.only))  # type: ignore[arg-type]
    told = service_query.ask("search", place, [kind, fields], _FORMS[kind])
    if told is not None:
        note, page = told
        return SearchAnswer(note, HitPage(*page))
    store = open_store()
    from memfs.recall import place_search  # the engine, where no service answers

    page = place_search.find(store, kind, request)
    return SearchAnswer(store.note, page)


def list_by_date(store: OpenStore, *, only: Filter, limit: int, page: int) -> HitPage[Hit]:
    """Return one page (from 1) of the documents that pass a filter, in order of time."""
    _check_request(None, only, limit, page)
    from memfs.recall import place_search  # the engine

    return place_search.list_by_date(store, only=only, limit=limit, page=page)


def answer(store: OpenStore, _session: str, kind: str, fields: list[object]) -> object:
    """Answer a search of another process (see `service_query`). Raises `MemfsError`."""
    import msgspec  # 10 ms, which who asks the service need not wait for

    from memfs.recall import place_search  # the engine

    page = place_search.find(store, kind, msgspec.convert(fields, SearchRequest))
    return SearchAnswer(store.note, page)


def build_request(
    query: str, mode: Mode | None, only: Filter, limit: int, page: int
) -> SearchRequest:
    """Return a checked request. Raises `UsageError`, with what is allowed."""
    if not isinstance(query, str) or not query.strip():
        empty = "empty" if isinstance(query, str) else f"{query!r}, expected a string"
        raise UsageError(f"the query is {empty}", "give the words to search for")
    _check_request(mode, only, limit, page)
    return SearchRequest(query, mode, only, limit, page)


def _check_request(mode: Mode | None, only: Filter, limit: int, page: int) -> None:
    if mode is not None and mode not in get_args(Mode):
        raise UsageError(f"mode is {mode!r}, expected {_list_words(get_args(Mode))}")
    _check_number("limit", limit, 1, MOST)
    _check_number("page", page, 1, MOST)
    check_filter(only)


def check_filter(only: Filter) -> None:
    """Raise `UsageError`, with what is allowed, for a filter that has something else."""
    if not isinstance(only, Filter):
        raise UsageError(f"'only' is {only!r}, expected a Filter", 'Filter(kinds=["passage"])')
    for name in (*_ALLOWED, *_TEXTS):
        _check_words(name, getattr(only, name), _ALLOWED.get(name))
    _check_number("importance", only.importance, 0, 10)
    for name, at in (("since", only.since), ("until", only.until)):
        if at is not None and (not isinstance(at, int) or abs(at) > _FAR):
            raise UsageError(
                f"{name} is {at!r}, expected seconds since 1970",
                f'pass dates outside of the filter: {name}="2026-05-03", "yesterday", "7d"',
            )


def _check_words(name: str, given: object, allowed: Sequence[str] | None) -> None:
    if not isinstance(given, list | tuple) or not all(isinstance(each, str) for each in given):
        hint = f"{name}=[{given!r}]" if isinstance(given, str) else ""
        raise UsageError(f"{name} is {given!r}, expected a list of strings", hint)
    wrong = [each for each in given if allowed is not None and each not in allowed]
    if wrong and allowed is not None:
        raise UsageError(f"{name} has {wrong[0]!r}, expected {_list_words(allowed)}")


def _check_number(name: str, given: object, least: int, most: int) -> None:
    if not isinstance(given, int) or isinstance(given, bool) or not least <= given <= most:
        raise UsageError(f"{name} is {given!r}, expected {least:,} to {most:,}")


def _list_words(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


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
    back = {"today": 0, "yesterday": 1}.get(word)
    if back is None and word.endswith("d") and word[:-1].isdecimal():
        back = int(word[:-1])
    if back is not None:
        return datetime.now().astimezone().date() - timedelta(days=back)
    return date.fromisoformat(word) if "t" not in word and " " not in word else None
