"""Facts that sessions stated, rules that their users stated, and what reflection proposes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.routing import Route

from memfs.core import changes
from memfs.core.body_edits import Append, Rejected
from memfs.core.errors import NotFoundError
from memfs.core.facts import ACCEPTED, REJECTED, STATUSES
from memfs.knowledge.facts.extraction.candidate import CATEGORIES
from memfs.ops import edit, facts, reflect, standing_rules
from memfs.web.rendering import get_form, get_project, get_site, redirect, render, show_errors
from memfs.web.site import make_origin

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from memfs.store.blocks import Place
    from memfs.store.standing_rules import StandingRule

_PAGE = 100  # facts


@show_errors
def list_facts(request: Request) -> Response:
    """Show facts by the words, category, status and name of the address; and what waits."""
    given = request.query_params
    words, name = given.get("q", "").strip(), given.get("name", "").strip()
    category = given.get("category", "") if given.get("category") in CATEGORIES else ""
    status = given.get("status", "") if given.get("status") in STATUSES else ""
    place = get_project(request).find_place()
    found = facts.select_facts(
        place,
        re.escape(words),
        entities=[name] if name else [],
        categories=[category] if category else [],
        statuses=[status] if status else [],
    )
    by_id = {each.id: each for each in facts.select_facts(place, statuses=STATUSES)}
    found.sort(key=lambda each: each.at, reverse=True)
    return render(
        request,
        "facts.html",
        "facts",
        "Facts and rules",
        facts=[(each, by_id.get(each.by), facts.source(place, each)) for each in found[:_PAGE]],
        total=len(found),
        words=words,
        name=name,
        category=category,
        chosen=status,
        categories=CATEGORIES,
        statuses=STATUSES,
        rules=[(rule, standing_rules.label(rule)) for rule in standing_rules.list_pending(place)],
        offers=facts.list_offers(place),
        proposals=[
            (
                each,
                [
                    (c.label, changes.of_blocks(c.before, c.after, "now", "then"))
                    for c in each.changes
                ],
            )
            for each in reflect.list_pending(place)
        ],
    )


@show_errors
def decide_fact(request: Request) -> Response:
    """Accept or reject a fact."""
    status = ACCEPTED if get_form(request).get("to") == "accept" else REJECTED
    found = facts.decide(get_project(request).find_place(), request.path_params["ident"], status)
    get_site(request).say(f"{status}: {found.statement}")
    return redirect(request, "facts")


@show_errors
def take_fact(request: Request) -> Response:
    """Take an offered fact into its block, and accept it."""
    place = get_project(request).find_place()
    ident = request.path_params["ident"]
    offer = next((each for each in facts.list_offers(place) if each.fact.id == ident), None)
    if offer is None:
        raise NotFoundError("this fact is offered no more", "a block may have it by now")
    if _append(request, place, offer.label, offer.fact.statement):
        facts.decide(place, offer.fact.id, ACCEPTED)
    return redirect(request, "facts")


@show_errors
def decide_rule(request: Request) -> Response:
    """Take a standing rule into a block, or drop it."""
    place = get_project(request).find_place()
    rule = _find_rule(place, request.path_params["ident"])
    if get_form(request).get("to") == "drop":
        standing_rules.refuse_rule(place, rule)
        get_site(request).say("the rule is dropped")
    else:
        _append(request, place, standing_rules.label(rule), rule.text)
    return redirect(request, "facts")


@show_errors
def decide_proposal(request: Request) -> Response:
    """Accept or reject what reflection proposes."""
    place = get_project(request).find_place()
    ident = request.path_params["ident"]
    if get_form(request).get("to") == "accept":
        done = reflect.accept(place, ident, make_origin())
        get_site(request).say(f"taken: {len(done.entries):,} blocks, {done.passages:,} passages")
    else:
        reflect.reject(place, ident)
        get_site(request).say("the proposal is dropped")
    return redirect(request, "facts")


def _append(request: Request, place: Place, label: str, text: str) -> bool:
    outcome = edit.run(place, [Append(label, text)], make_origin())
    if isinstance(outcome, Rejected):
        get_site(request).say(outcome.message, "refused")
        return False
    get_site(request).say(f"{label} says it now")
    return True


def _find_rule(place: Place, ident: str) -> StandingRule:
    for rule in standing_rules.list_pending(place):
        if rule.id == ident:
            return rule
    raise NotFoundError("this rule waits no more", "a block may have it by now")


ROUTES = [
    Route("/facts", list_facts),
    Route("/facts/{ident}", decide_fact, methods=["POST"]),
    Route("/facts/{ident}/take", take_fact, methods=["POST"]),
    Route("/rules/{ident}", decide_rule, methods=["POST"]),
    Route("/proposals/{ident}", decide_proposal, methods=["POST"]),
]
