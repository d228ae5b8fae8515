"""What searches found, as a model reads it: numbered, dated, with why, a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfs.core.escaping import flatten_text, quote_lines
from memfs.tools.definition import Arguments, Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memfs.core.records import Hit, SessionHit
    from memfs.search.engine import Filter
    from memfs.tools.tool_context import ToolContext

USUAL, MOST = 5, 50  # hits on a page
_INDENT = "   "
NEAREST = Parameter(
    "nearest", "boolean", "true: show the nearest also where nothing is clearly relevant."
)
DATES = (
    Parameter("since", "string", "From this day on: 2026-05-03, yesterday, 7d (days ago)."),
    Parameter("until", "string", "Up to the end of this day."),
)
PAGING = (
    Parameter("limit", "integer", f"Hits on a page, {USUAL} if not given.", least=1, most=MOST),
    Parameter("page", "integer", "Which page, from 1.", least=1),
)


def hits(desk: ToolContext, given: Arguments, *, kinds: tuple[str, ...]) -> str:
    """Search for `query`; return a page of hits."""
    from memfs.ops import search

    limit, page = paging(given)
    found = search.run(
        desk.index(),
        str(given["query"]),
        mode=None,
        only=parse_filter(given, kinds),
        limit=limit,
        page=page,
    )
    if not found.sure and not given.get(NEAREST.name):
        return _unsure(found.total, "hit")
    return format_hits([_hit(each) for each in found.hits], found.total, limit, page, "hit")


def sessions(desk: ToolContext, given: Arguments) -> str:
    """Search for `query`; return a page of sessions."""
    from memfs.ops import search

    limit, page = paging(given)
    found = search.sessions(
        desk.index(),
        str(given["query"]),
        mode=None,
        only=parse_filter(given, ("message",)),
        limit=limit,
        page=page,
    )
    if not found.sure and not given.get(NEAREST.name):
        return _unsure(found.total, "session")
    return format_hits(
        [_session(each) for each in found.sessions], found.total, limit, page, "session"
    )


def _unsure(total: int, name: str) -> str:
    return f"nothing is clearly relevant; {NEAREST.name}=true shows the nearest of {total} {name}s"


def format_dated(desk: ToolContext, given: Arguments) -> str:
    """Return a page of what was said between two days, in its order."""
    from memfs.ops import search

    limit, page = paging(given)
    found = search.search_dated(
        desk.index(), only=parse_filter(given, ("message",)), limit=limit, page=page
    )
    return format_hits([_turn(each) for each in found.hits], found.total, limit, page, "message")


def parse_filter(given: Arguments, kinds: tuple[str, ...]) -> Filter:
    """Return what the arguments of a call let through."""
    from memfs.ops import search
    from memfs.search.engine import Filter

    since, until = given.get("since"), given.get("until")
    tags = _several(given.get("tags"))
    every = given.get("match") != "any"
    return Filter(
        kinds=kinds,
        roles=_several(given.get("role")),
        hosts=_several(given.get("host")),
        sessions=_several(given.get("session")),
        projects=_several(given.get("project")),
        branches=_several(given.get("branch")),
        tags=tags if every else (),
        any_tags=() if every else tags,
        importance=_number(given.get("min_importance"), 0),
        since=search.day(str(since), end=False) if since else None,
        until=search.day(str(until), end=True) if until else None,
    )


def paging(given: Arguments) -> tuple[int, int]:
    """Return how many to a page, and which page."""
    return _number(given.get("limit"), USUAL), _number(given.get("page"), 1)


def format_hits(parts: Sequence[str], total: int, limit: int, page: int, name: str) -> str:
    """Return what was found, numbered, and how much more there is."""
    first = (page - 1) * limit + 1
    if not parts:
        pages = -(-total // limit)
        return f"there is no page {page}: {total} in all, on {pages}" if total else "nothing found"
    last = first + len(parts) - 1
    more = f"; more with page={page + 1}" if last < total else ""
    lines = [f"{number}. {part}" for number, part in enumerate(parts, first)]
    return "\n".join([f"showing {first}-{last} of {total} {name}s{more}", *lines])


def _hit(hit: Hit) -> str:
    near = [_INDENT + flatten_text(f"before, {hit.before}")] if hit.before else []
    far = [_INDENT + flatten_text(f"after, {hit.after}")] if hit.after else []
    why = _INDENT + flatten_text(f"({'; '.join(hit.why)})")
    return "\n".join([_head(hit), *near, quote_lines(hit.text, _INDENT), *far, why])


def _turn(hit: Hit) -> str:
    return f"{_head(hit)}\n{quote_lines(hit.text, _INDENT)}"


def _session(found: SessionHit) -> str:
    head = f"{found.at[:10]} session {found.session} ({found.host}), {found.turns} turns about it"
    best = (quote_lines(f"{hit.role}: {hit.snippet}", _INDENT) for hit in found.hits)
    return "\n".join([flatten_text(head), *best])


def _head(hit: Hit) -> str:
    return flatten_text(_named(hit))


def _named(hit: Hit) -> str:
    if hit.kind == "message":
        return f"{hit.at[:16]} {hit.role}, session {hit.session} ({hit.host})"
    if hit.label:
        return f"{hit.kind} {hit.label}"
    tags = " ".join(f"#{tag}" for tag in hit.tags)
    return " ".join(part for part in (hit.at[:10], f"{hit.kind} {hit.id}", tags) if part)


def _several(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value] if value else []
    return tuple(str(item) for item in items)


def _number(value: object, usual: int) -> int:
    return value if isinstance(value, int) else usual
