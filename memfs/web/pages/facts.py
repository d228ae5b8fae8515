"""Facts that sessions stated, rules that their users stated, and what reflection proposes."""

from __future__ import annotations

import re
from urllib.parse import urlencode

from starlette.responses import Response

from memfs.core import changes
from memfs.core import label as labels
from memfs.core.body_edits import Append, Rejected
from memfs.core.errors import NotFoundError
from memfs.core.formats import format_count
from memfs.core.records import ACCEPTED, REJECTED, STATUSES
from memfs.knowledge.facts.prose import CATEGORIES
from memfs.ops import edit, facts, reflect, standing_rules
from memfs.store import proposals
from memfs.store.blocks import Place
from memfs.store.proposals import Proposal
from memfs.store.standing_rules import StandingRule
from memfs.web.rendering import Visit, explain, get, make_origin, post

_PAGE = 50  # facts
_OFFERED = 50  # offers that are listed


def list_facts(visit: Visit) -> Response:
    """Show facts by the words, category, status and name of the address; and what waits."""
    given = visit.query
    words, name = given.get("q", "").strip(), given.get("name", "").strip()
    category = given.get("category", "") if given.get("category") in CATEGORIES else ""
    status = given.get("status", "") if given.get("status") in STATUSES else ""
    project = visit.project
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
    shown, number, pages = visit.cut_page(found, _PAGE)
    offers = facts.list_offers(place, every)
    filters = {"q": words, "name": name, "category": category, "status": status}
    return visit.render(
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
        here=visit.address.query,
        categories=CATEGORIES,
        statuses=STATUSES,
        rules=[(rule, standing_rules.label(rule)) for rule in standing_rules.list_pending(place)],
        offers=offers[-_OFFERED:],
        offered=len(offers),
        proposals=[(each, _list_diffs(each)) for each in proposals.list_pending(place.home)],
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


def decide_fact(visit: Visit) -> Response:
    """Accept or reject a fact."""
    status = ACCEPTED if visit.form.get("to") == "accept" else REJECTED
    found = facts.decide(visit.place, visit.path["ident"], status)
    visit.say(f"{status}: {found.statement}")
    return _return_to_list(visit)


def take_fact(visit: Visit) -> Response:
    """Take an offered fact into its block, and accept it."""
    place = visit.place
    ident = visit.path["ident"]
    offer = next((each for each in facts.list_offers(place) if each.fact.id == ident), None)
    if offer is None:
        raise NotFoundError("this fact is offered no more", "a block may have it by now")
    append = Append(offer.label, offer.fact.statement)
    if _append(visit, append, "a stated fact"):
        facts.decide(place, offer.fact.id, ACCEPTED)
    return _return_to_list(visit)


def decide_rule(visit: Visit) -> Response:
    """Take a standing rule into a block, or drop it."""
    place = visit.place
    rule = _find_rule(place, visit.path["ident"])
    if visit.form.get("to") == "drop":
        standing_rules.refuse_rule(place, rule)
        visit.say("the rule is dropped")
    else:
        _append(visit, *standing_rules.make_edit(rule))
    return _return_to_list(visit)


def decide_proposal(visit: Visit) -> Response:
    """Accept or reject what reflection proposes."""
    place = visit.place
    ident = visit.path["ident"]
    if visit.form.get("to") == "accept":
        done = reflect.accept(place, ident, make_origin("reflect"))
        blocks = format_count(len(done.entries), "block")
        visit.say(f"taken: {blocks}, {format_count(done.passages, 'passage')}")
        visit.say(done.note, "refused")
    else:
        reflect.reject(place, ident)
        visit.say("the proposal is dropped")
    return _return_to_list(visit)


def _append(visit: Visit, append: Append, reason: str) -> bool:
    """Append to a block; return whether it was taken."""
    outcome = edit.run(visit.place, [append], make_origin(reason))
    if isinstance(outcome, Rejected):
        visit.say(explain(outcome), "refused")
        return False
    visit.say(f"{append.label} says it now")
    return True


def _return_to_list(visit: Visit) -> Response:
    """Show the list again, with the filters that it had."""
    return visit.redirect(f"facts?{visit.address.query}" if visit.address.query else "facts")


def _find_rule(place: Place, ident: str) -> StandingRule:
    for rule in standing_rules.list_pending(place):
        if rule.id == ident:
            return rule
    raise NotFoundError("this rule waits no more", "a block may have it by now")


ROUTES = [
    get("/facts", list_facts),
    post("/facts/{ident}", decide_fact),
    post("/facts/{ident}/take", take_fact),
    post("/rules/{ident}", decide_rule),
    post("/proposals/{ident}", decide_proposal),
]
