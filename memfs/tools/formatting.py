"""Formats search results for a model: numbered, with dates and reasons, in pages."""

from collections.abc import Sequence
from typing import Any

from memfs.context import page_scores
from memfs.core.escaping import flatten_text, quote_lines
from memfs.core.formats import format_count
from memfs.core.hits import Hit, SessionHit
from memfs.core.snippet import trim_heading
from memfs.ops import search
from memfs.search.request import Filter, HitPage
from memfs.store import config
from memfs.tools.catalog import MOST, USUAL
from memfs.tools.definition import Arguments
from memfs.tools.tool_context import ToolContext

_INDENT = "   "


def search_hits(context: ToolContext, arguments: Arguments, *, kinds: tuple[str, ...]) -> str:
    """Search for `query`; return a page of hits, with the archive as many as is configured."""
    if not {"passage", "source"}.isdisjoint(kinds) and "limit" not in arguments:
        arguments = {**arguments, "limit": config.load(context.place()).get_page_size(MOST)}
    asked = parse_search(arguments, kinds)
    found = drop_running_turn(context, search.run(context.index(), **asked))
    if found.total and not found.hits:  # the page had nothing else
        asked["page"] += 1
        found = drop_running_turn(context, search.run(context.index(), **asked))
    return format_page(arguments, found)


def drop_running_turn(context: ToolContext, found: HitPage[Hit]) -> HitPage[Hit]:
    """Return a page without what the model has before it: the last prompt, and what came after."""
    prompts = page_scores.list_prompts(context.place())
    if not prompts:
        return found
    last = max(reversed(prompts), key=lambda message: message.at)
    own = f"{last.host}/{last.session}/{last.id}"
    hits = [
        hit
        for hit in found.hits
        if hit.id != own and (hit.session != last.session or hit.at <= last.at)
    ]
    return found._replace(hits=hits, total=found.total - len(found.hits) + len(hits))


def parse_search(arguments: Arguments, kinds: tuple[str, ...]) -> dict[str, Any]:
    """Return the keyword arguments of a search op."""
    limit, page = _parse_paging(arguments)
    only = _parse_filter(arguments, kinds)
    return {"query": arguments["query"], "mode": None, "only": only, "limit": limit, "page": page}


def format_page(arguments: Arguments, found: HitPage[Any], name: str = "hit") -> str:
    """Return a page of a search; a note where nothing is clearly relevant."""
    if not found.sure and not arguments.get("nearest"):
        more = f"use nearest=true to see the nearest of {format_count(found.total, name)}"
        return f"nothing is clearly relevant; {more}"
    parts = [
        _format_session(each) if isinstance(each, SessionHit) else _format_hit(each)
        for each in found.hits
    ]
    return format_hits(parts, found.total, arguments, name)


def list_by_date(context: ToolContext, arguments: Arguments) -> str:
    """Return a page of the messages between two days, in their order."""
    dates = {"since": arguments["start_date"], "until": arguments.get("end_date")}
    only = _parse_filter({**arguments, **dates}, ("message",))
    limit, page = _parse_paging(arguments)
    found = search.list_by_date(context.index(), only=only, limit=limit, page=page)
    return format_hits(
        [_format_turn(each) for each in found.hits], found.total, arguments, "message"
    )


def _parse_filter(arguments: Arguments, kinds: tuple[str, ...]) -> Filter:
    """Return the search filter of a call's arguments."""
    since, until = arguments.get("since"), arguments.get("until")
    tags = tuple(arguments.get("tags", ()))
    every = arguments.get("match") != "any"
    names = {"role": "roles", "speaker": "speakers", "host": "hosts", "session": "sessions"}
    names |= {"project": "projects", "branch": "branches"}
    return Filter(
        kinds=kinds,
        tags=tags if every else (),
        any_tags=() if every else tags,
        importance=arguments.get("min_importance", 0),
        since=search.parse_day(since, end=False) if since else None,
        until=search.parse_day(until, end=True) if until else None,
        **{plural: (arguments[name],) for name, plural in names.items() if arguments.get(name)},
    )


def _parse_paging(arguments: Arguments) -> tuple[int, int]:
    """Return (hits per page, number of the page)."""
    return arguments.get("limit", USUAL), arguments.get("page", 1)


def format_hits(parts: Sequence[str], total: int, arguments: Arguments, name: str) -> str:
    """Return hits numbered, under a line with their range and total."""
    limit, page = _parse_paging(arguments)
    first = (page - 1) * limit + 1
    if not parts:
        pages = -(-total // limit)
        size = f"{format_count(total, name)} on {format_count(pages, 'page')}"
        return f"there is no page {page}: {size}" if total else "nothing found"
    last = first + len(parts) - 1
    more = f"; more with page={page + 1}" if last < total else ""
    lines = [f"{number}. {part}" for number, part in enumerate(parts, first)]
    return "\n".join([f"showing {first}-{last} of {format_count(total, name)}{more}", *lines])


def _format_hit(hit: Hit) -> str:
    near = [_INDENT + flatten_text(f"before, {hit.before}")] if hit.before else []
    far = [_INDENT + flatten_text(f"after, {hit.after}")] if hit.after else []
    why = _INDENT + flatten_text(f"({'; '.join(hit.why)})")
    text = trim_heading(hit.text, hit.metadata.get("heading")) if hit.location else hit.text
    return "\n".join([_format_head(hit), *near, quote_lines(text, _INDENT), *far, why])


def _format_turn(hit: Hit) -> str:
    return f"{_format_head(hit)}\n{quote_lines(hit.text, _INDENT)}"


def _format_session(found: SessionHit) -> str:
    head = f"{found.at[:10]} session {found.session} ({found.host}), "
    head += format_count(found.turns, "matching turn")
    best = (quote_lines(f"{hit.who}: {hit.snippet}", _INDENT) for hit in found.hits)
    return "\n".join([flatten_text(head), *best])


def _format_head(hit: Hit) -> str:
    heading = hit.metadata.get("heading")
    if hit.kind == "message":
        where = hit.sharer or f"session {hit.session}"
        head = f"{hit.at[:16]}{'Z' * (len(hit.at) > 16)} {hit.who}, {where} ({hit.host})"
    elif hit.location:
        head = f"{hit.location}, source {hit.label}" + (f": {heading}" if heading else "")
    elif hit.label:
        head = f"{hit.kind} {hit.label}"
    else:
        tags = (f"#{tag}" for tag in hit.tags)
        head = " ".join(filter(None, (hit.at[:10], f"{hit.kind} {hit.id}", *tags)))
    return flatten_text(head)
