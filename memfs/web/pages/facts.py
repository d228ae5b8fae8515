"""Facts that sessions stated, rules that their users stated, and what reflection proposes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from starlette.responses import Response

from memfs.core import changes
from memfs.core import label as labels
from memfs.core.body_edits import Append, Rejected
from memfs.core.errors import MemfsError, NotFoundError
from memfs.core.formats import format_count
from memfs.core.records import ACCEPTED, REJECTED, STATUSES, Fact
from memfs.knowledge.facts.prose import CATEGORIES
from memfs.ops import edit, facts, reflect, standing_rules
from memfs.store import proposals
from memfs.store.blocks import Place
from memfs.store.proposals import Proposal
from memfs.store.standing_rules import StandingRule
from memfs.web.rendering import Visit, explain, get, make_origin, post

_PAGE = 50  # entries
_KINDS = {"rule": "rules", "proposal": "proposals", "fact": "facts"}
_DONE = {"accept": "accepted", "dismiss": "dismissed", "forget": "forgot"}

Entry = StandingRule | Proposal | Fact


def list_facts(visit: Visit) -> Response:
    """Show rules, proposals and facts that meet the conditions of the address, in one list."""
    given = visit.query
    chosen = {
        "q": given.get("q", "").strip(),
        "name": given.get("name", "").strip(),
        "kind": given.get("kind", "") if given.get("kind") in _KINDS else "",
        "category": given.get("category", "") if given.get("category") in CATEGORIES else "",
        "status": given.get("status", "") if given.get("status") in STATUSES else "",
    }
    place, cache = visit.place, visit.project.facts
    every = facts.select_facts(place, statuses=STATUSES, cache=cache)
    found = _list_entries(visit, chosen)
    shown, number, pages = visit.cut_page(found, _PAGE)
    some = [each for each in shown if isinstance(each, Fact)]
    return visit.render(
        "facts.html",
        "facts",
        "Facts and rules",
        entries=[(_name_kind(each), each) for each in shown],
        numbers=[(kind, name, _count(found, kind)) for kind, name in _KINDS.items()],
        explained={each.fact.id: each for each in facts.explain_facts(place, some, every)},
        offers={each.fact.id: each.label for each in facts.list_offers(place, every)},
        label_of=standing_rules.label,
        list_diffs=_list_diffs,
        total=len(found),
        number=number,
        pages=pages,
        chosen=chosen,
        filters=urlencode({key: text for key, text in chosen.items() if text}),
        here=visit.filters,
        selected=given.get("selected", ""),
        categories=CATEGORIES,
        statuses=STATUSES,
        kinds=_KINDS,
    )


def _list_entries(visit: Visit, chosen: Mapping[str, str]) -> list[Entry]:
    """Return what meets the conditions: what waits for a decision first, then facts by date."""
    place, kind, words = visit.place, chosen["kind"], chosen["q"].casefold()
    found: list[Entry] = []
    if not (chosen["name"] or chosen["category"] or chosen["status"]):
        rules = standing_rules.list_pending(place)
        found += [each for each in rules if words in each.text.casefold()]
        found += [] if words else proposals.list_pending(place.home)
    known = facts.select_facts(
        place,
        re.escape(chosen["q"]),
        entities=[chosen["name"]] if chosen["name"] else [],
        categories=[chosen["category"]] if chosen["category"] else [],
        statuses=[chosen["status"]] if chosen["status"] else [],
        cache=visit.project.facts,
    )
    stated = {_fold(each.text) for each in found if isinstance(each, StandingRule)}
    known = [each for each in known if _fold(each.statement) not in stated]
    found += sorted(known, key=lambda each: each.at, reverse=True)
    return [each for each in found if kind in ("", _name_kind(each))]


def _fold(text: str) -> str:
    """Return a text as it is compared: a fact that repeats a rule is not listed beside it."""
    return " ".join(text.split()).rstrip(".").casefold()


def _name_kind(entry: Entry) -> str:
    return {StandingRule: "rule", Proposal: "proposal", Fact: "fact"}[type(entry)]


def _count(found: Sequence[Entry], kind: str) -> int:
    return sum(_name_kind(each) == kind for each in found)


def _list_diffs(proposal: Proposal) -> list[tuple[str, str]]:
    """Return (label, diff) of each block that a proposal changes."""
    return [
        (
            labels.qualify(each.tier, each.label),
            changes.of_blocks(each.before, each.after, "now", "then"),
        )
        for each in proposal.changes
    ]


def decide_entries(visit: Visit) -> Response:
    """Accept, dismiss or forget the entries that a form names; `one` names a single one."""
    what, _, name = visit.form.get("one", "").partition(" ")
    picked = [name] if name else visit.list_picked()
    what = what or visit.form.get("to", "")
    gone = {ident for kind, _, ident in (each.partition(":") for each in picked) if kind == "fact"}
    done = Counter[str]()
    if what == "forget":
        done["fact"] += facts.forget(visit.place, gone)
    for each in picked:
        kind, _, ident = each.partition(":")
        if (kind, what) != ("fact", "forget") and _decide(visit, kind, ident, what):
            done[kind] += 1
    counts = [format_count(count, kind) for kind, count in done.items() if count]
    if counts and not name:
        visit.say(f"{_DONE.get(what, what)}: {', '.join(counts)}")
    if not picked:
        visit.say("nothing is selected", "refused")
    return visit.redirect(f"facts?{visit.filters}" if visit.filters else "facts")


def _decide(visit: Visit, kind: str, ident: str, what: str) -> bool:
    """Decide on an entry; return whether that was done, and else say why not."""
    place, accepted = visit.place, what in ("accept", "take")
    try:
        if kind == "fact" and what == "take":
            return _take_fact(visit, ident)
        if kind == "fact":
            found = facts.decide(place, ident, ACCEPTED if accepted else REJECTED)
            visit.say(f"{found.status}: {found.statement}" if "one" in visit.form else "")
        elif kind == "rule":
            rule = _find_rule(place, ident)
            if accepted:
                return _append(visit, *standing_rules.make_edit(rule))
            standing_rules.refuse_rule(place, rule)
            visit.say("the rule is dropped" if "one" in visit.form else "")
        else:
            _decide_proposal(visit, ident, accepted=accepted)
    except MemfsError as error:
        if "one" in visit.form:
            raise
        visit.say(explain(error), "refused")
        return False
    return True


def _decide_proposal(visit: Visit, ident: str, *, accepted: bool) -> None:
    if not accepted:
        reflect.reject(visit.place, ident)
        visit.say("the proposal is dropped")
        return
    done = reflect.accept(visit.place, ident, make_origin("reflect"))
    blocks = format_count(len(done.entries), "block")
    visit.say(f"taken: {blocks}, {format_count(done.passages, 'passage')}")
    visit.say(done.note, "refused")


def _take_fact(visit: Visit, ident: str) -> bool:
    """Take an offered fact into its block, and accept it; return whether the block took it."""
    offer = next((each for each in facts.list_offers(visit.place) if each.fact.id == ident), None)
    if offer is None:
        raise NotFoundError("this fact is offered no more", "a block may have it by now")
    if not _append(visit, Append(offer.label, offer.fact.statement), "a stated fact"):
        return False
    facts.decide(visit.place, offer.fact.id, ACCEPTED)
    return True


def _append(visit: Visit, append: Append, reason: str) -> bool:
    """Append to a block; return whether it was taken."""
    outcome = edit.run(visit.place, [append], make_origin(reason))
    if isinstance(outcome, Rejected):
        visit.say(explain(outcome), "refused")
        return False
    visit.say(f"{append.label} says it now" if "one" in visit.form else "")
    return True


def _find_rule(place: Place, ident: str) -> StandingRule:
    for rule in standing_rules.list_pending(place):
        if rule.id == ident:
            return rule
    raise NotFoundError("this rule waits no more", "a block may have it by now")


ROUTES = [get("/facts", list_facts), post("/facts", decide_entries)]
