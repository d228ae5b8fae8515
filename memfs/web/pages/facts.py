"""The facts that sessions stated and that are stored: filters, sources, forgetting."""

import re
from urllib.parse import urlencode

from starlette.responses import Response

from memfs.core.formats import format_count
from memfs.core.records import STATUSES
from memfs.knowledge.facts.prose import CATEGORIES
from memfs.ops import facts
from memfs.web.rendering import Visit, get, post

_PAGE = 50  # facts


def _list_facts(visit: Visit) -> Response:
    given = visit.query
    chosen = {
        "q": given.get("q", "").strip(),
        "name": given.get("name", "").strip(),
        "category": given.get("category", "") if given.get("category") in CATEGORIES else "",
        "status": given.get("status", "") if given.get("status") in STATUSES else "",
    }
    place, cache = visit.place, visit.project.facts
    every = facts.select_facts(place, statuses=STATUSES, cache=cache)
    found = facts.select_facts(
        place,
        re.escape(chosen["q"]),
        entities=[chosen["name"]] if chosen["name"] else [],
        categories=[chosen["category"]] if chosen["category"] else [],
        statuses=[chosen["status"]] if chosen["status"] else STATUSES,
        cache=cache,
    )
    found.sort(key=lambda fact: fact.at, reverse=True)
    shown, number, pages = visit.cut_page(found, _PAGE)
    return visit.render(
        "facts.html",
        "facts",
        "Facts",
        facts=facts.explain_facts(place, shown, every),
        waiting={item.id for item in visit.project.list_items()},
        total=len(found),
        number=number,
        pages=pages,
        chosen=chosen,
        filters=urlencode({key: text for key, text in chosen.items() if text}),
        here=visit.filters,
        selected=given.get("selected") == "all",
        categories=CATEGORIES,
        statuses=STATUSES,
    )


def _forget_facts(visit: Visit) -> Response:
    if picked := visit.list_picked():
        visit.say(f"forgot {format_count(facts.forget(visit.place, picked), 'fact')}")
    else:
        visit.say("nothing is selected", "refused")
    return visit.redirect(f"facts?{visit.filters}" if visit.filters else "facts")


ROUTES = [get("/facts", _list_facts), post("/facts", _forget_facts)]
