"""Search over everything: the question and its filters stand in the address."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import quote, urlencode

from starlette.datastructures import QueryParams
from starlette.responses import Response

from memfs import hosts
from memfs.core import parts
from memfs.core.errors import UsageError
from memfs.core.hits import Hit
from memfs.core.records import KINDS
from memfs.ops import search
from memfs.search.request import Filter, HitPage
from memfs.web.rendering import Visit, get

_PAGE = 20  # hits
_COUNTED = 100  # of the best, for the counts beside the filters
_ROLES = ("user", "assistant", "tool")


def _show_results(visit: Visit) -> Response:
    given = visit.query
    query = given.get("q", "").strip()
    number = _parse_page(given.get("page", "1"))
    found, refusal = _find(visit, query) if query else (None, "")
    hits = found.hits if found else []
    start = (number - 1) * _PAGE
    project = visit.project
    return visit.render(
        "search.html",
        "search",
        f"Search: {query}" if query else "Search",
        query=query,
        found=found,
        refusal=refusal,
        hits=[(hit, locate_hit(hit)) for hit in hits[start : start + _PAGE]],
        start=start,
        more=len(hits) > start + _PAGE,
        number=number,
        facets=_count_facets(hits, given),
        given=given,
        kinds=KINDS,
        roles=_ROLES,
        hosts=hosts.RECORDED,
        link=lambda **changes: _make_query(given, changes),
        note=project.open_index().note if query else "",
        joined=bool((team := parts.find("team.seam")) and team.has_joined(project.find_place())),
    )


def _find(visit: Visit, query: str) -> tuple[HitPage[Hit] | None, str]:
    given = visit.query
    try:
        only = Filter(
            kinds=tuple(KINDS[name] for name in given.getlist("in") if name in KINDS),
            roles=tuple(name for name in given.getlist("role") if name in _ROLES),
            hosts=tuple(name for name in given.getlist("host") if name in hosts.RECORDED),
            speakers=tuple(filter(None, given.getlist("speaker"))),
            tags=tuple(filter(None, given.getlist("tag"))),
            sessions=tuple(filter(None, given.getlist("session"))),
            since=search.parse_day(given["since"], end=False) if given.get("since") else None,
            until=search.parse_day(given["until"], end=True) if given.get("until") else None,
        )
    except UsageError as error:
        return None, f"{error.message} ({error.hint})"
    index = visit.project.open_index()
    run = parts.load("team.seam").search if given.get("team") else search.run
    return run(index, query, mode=None, only=only, limit=_COUNTED, page=1), ""


class HitPlace(NamedTuple):
    """Where a hit is: the path of its page, a name for it, and what it is from ("": nothing).

    What others shared has no page, nor has a commit.
    """

    path: str
    name: str
    source: str = ""


def locate_hit(hit: Hit) -> HitPlace:
    """Return the page of a hit."""
    if sharer := hit.sharer:
        return HitPlace("", sharer)
    ident = quote(hit.id, safe="")
    if hit.kind == "message":
        message = hit.id.removeprefix(f"{hit.host}/{hit.session}/")
        path = f"sessions/{hit.host}/{quote(hit.session, safe='')}?message={quote(message)}#here"
        return HitPlace(path, f"session {hit.session[:8]}")
    if hit.kind == "block":
        return HitPlace(f"blocks/{quote(hit.id)}", hit.label)
    if hit.kind == "fact":
        return HitPlace(f"facts?q={quote(hit.text[:200])}", hit.text)
    if hit.kind == "source":
        file, heading = (str(hit.metadata.get(key) or "") for key in ("file", "heading"))
        line = hit.metadata.get("line")
        return HitPlace(f"sources/{quote(hit.label)}", f"{file}:{line}" if line else file, heading)
    if hit.kind == "commit":
        return HitPlace("", f"commit {hit.label}", str(hit.metadata.get("author") or ""))
    if hit.kind == "static":
        return HitPlace(f"archive/static/{quote(hit.label)}", hit.label)
    source = str(hit.metadata.get("source") or "")
    return HitPlace(
        f"archive/{ident}", f"passage {hit.id[-8:]}", f"from {source}" if source else ""
    )


def _parse_page(text: str) -> int:
    return int(text) if text.isdecimal() and 0 < int(text[:6]) <= _COUNTED // _PAGE else 1


def _count_facets(
    hits: Iterable[Hit], given: QueryParams
) -> list[tuple[str, str, list[tuple[str, int, bool]]]]:
    """Return (name, field, values with their counts and whether they are chosen)."""
    names = {kind: name for name, kind in KINDS.items()}
    counters: dict[str, Counter[str]] = {"in": Counter(), "host": Counter(), "role": Counter()}
    for hit in hits:
        counters["in"][names.get(hit.kind, hit.kind)] += 1
        if hit.host:
            counters["host"][hit.host] += 1
        if hit.role:
            counters["role"][hit.role] += 1
    titles = {"in": "Kind", "host": "Assistant", "role": "Who said it"}
    chosen = {field: given.getlist(field) for field in titles}
    return [
        (
            titles[field],
            field,
            [(*each, each[0] in chosen[field]) for each in counter.most_common()],
        )
        for field, counter in counters.items()
        if counter
    ]


def _make_query(given: QueryParams, changes: Mapping[str, str]) -> str:
    """Return the query of an address with some fields set, "" for one that is to go."""
    kept = [
        (key, value)
        for key, value in given.multi_items()
        if key not in (*changes, "page") and value
    ]
    return urlencode([*kept, *((key, value) for key, value in changes.items() if value)])


ROUTES = [get("/search", _show_results)]
