"""Facts that sessions stated, rules that their users stated, and what reflection proposes."""

from __future__ import annotations

import re
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memfs.core import changes
from memfs.core import label as labels
from memfs.core.body_edits import Append, Rejected
from memfs.core.errors import NotFoundError
from memfs.core.formats import format_count
from memfs.core.records import ACCEPTED, REJECTED, STATUSES
from memfs.knowledge.facts.prose import CATEGORIES
from memfs.ops import edit, facts, reflect, standing_rules
from memfs.store.blocks import Place
from memfs.store.proposals import Proposal
from memfs.store.standing_rules import StandingRule
from memfs.web.rendering import (
    cut_page,
    get_form,
    get_project,
    get_site,
    make_origin,
    redirect,
    render,
    show_errors,
)

_PAGE = 50  # facts
_OFFERED = 50  # offers that are listed


@show_errors
def list_facts(request: Request) -> Response:
    """Show facts by the words, category, status and name of the address; and what waits."""
    given = request.query_params
    words, name = given.get("q", "").strip(), given.get("name", "").strip()
    category = given.get("category", "") if given.get("category") in CATEGORIES else ""
    status = given.get("status", "") if given.get("status") in STATUSES else ""
    project = get_project(request)
    place = project.find_place()
    every = facts.select_facts(place, statuses=STATUSES, cache=project.facts)
    found = facts.select_facts(
        place,
        re.escape(words),
        entities=[name] if name else [],
        categories=[category] if category else [],
        statuses=[status] if status else [],
        cache=project.facts,
    )
    found.sort(key=lambda each: each.at, reverse=True)
    shown, number, pages = cut_page(request, found, _PAGE)
    offers = facts.list_offers(place, every)
    filters = {"q": words, "name": name, "category": category, "status": status}
    return render(
        request,
        "facts.html",
        "facts",
        "Facts and rules",
        facts=facts.explain_facts(place, shown, every),
        total=len(found),
        number=number,
        pages=pages,
        words=words,
        name=name,
        category=category,
        chosen=status,
        filters=urlencode({key: text for key, text in filters.items() if text}),
        here=request.url.query,
        categories=CATEGORIES,
        statuses=STATUSES,
        rules=[(rule, standing_rules.label(rule)) for rule in standing_rules.list_pending(place)],
        offers=offers[-_OFFERED:],
        offered=len(offers),
        proposals=[(each, _list_diffs(each)) for each in reflect.list_pending(place)],
    )


def _list_diffs(proposal: Proposal) -> list[tuple[str, str]]:
    """Return (label, diff) of each block that a proposal changes."""
    return [
        (
            labels.qualify(each.tier, each.label),
            changes.of_blocks(each.before, each.after, "now", "then"),
        )
        for each in proposal.changes
    ]


@show_errors
def decide_fact(request: Request) -> Response:
    """Accept or reject a fact."""
    status = ACCEPTED if get_form(request).get("to") == "accept" else REJECTED
    found = facts.decide(get_project(request).find_place(), request.path_params["ident"], status)
    get_site(request).say(f"{status}: {found.statement}")
    return _return_to_list(request)


@show_errors
def take_fact(request: Request) -> Response:
    """Take an offered fact into its block, and accept it."""
    place = get_project(request).find_place()
    ident = request.path_params["ident"]
    offer = next((each for each in facts.list_offers(place) if each.fact.id == ident), None)
    if offer is None:
        raise NotFoundError("this fact is offered no more", "a block may have it by now")
    append = Append(offer.label, offer.fact.statement)
    if _append(request, place, append, "a stated fact"):
        facts.decide(place, offer.fact.id, ACCEPTED)
    return _return_to_list(request)


@show_errors
def decide_rule(request: Request) -> Response:
    """Take a standing rule into a block, or drop it."""
    place = get_project(request).find_place()
    rule = _find_rule(place, request.path_params["ident"])
    if get_form(request).get("to") == "drop":
        standing_rules.refuse_rule(place, rule)
        get_site(request).say("the rule is dropped")
    else:
        _append(request, place, *standing_rules.make_edit(rule))
    return _return_to_list(request)


@show_errors
def decide_proposal(request: Request) -> Response:
    """Accept or reject what reflection proposes."""
    place = get_project(request).find_place()
    ident = request.path_params["ident"]
    if get_form(request).get("to") == "accept":
        done = reflect.accept(place, ident, make_origin("reflect"))
        blocks = format_count(len(done.entries), "block")
        get_site(request).say(f"taken: {blocks}, {format_count(done.passages, 'passage')}")
        if done.note:
            get_site(request).say(done.note, "refused")
    else:
        reflect.reject(place, ident)
        get_site(request).say("the proposal is dropped")
    return _return_to_list(request)


def _append(request: Request, place: Place, append: Append, reason: str) -> bool:
    """Append to a block; return whether it was taken."""
    outcome = edit.run(place, [append], make_origin(reason))
    if isinstance(outcome, Rejected):
        why = f"{outcome.message} ({outcome.hint})" if outcome.hint else outcome.message
        get_site(request).say(why, "refused")
        return False
    get_site(request).say(f"{append.label} says it now")
    return True


def _return_to_list(request: Request) -> Response:
    """Show the list again, with the filters that it had."""
    return redirect(request, f"facts?{request.url.query}" if request.url.query else "facts")


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
