"""Facts and rules in the page: filters, sources, decisions."""

from __future__ import annotations

import html
import re

from memfs.core.body_edits import Append, Delete, Describe, Replace
from memfs.core.records import Fact, Origin
from memfs.ops import archive, edit, facts, history, show, standing_rules
from memfs.store import facts as stored
from memfs.store import proposals
from memfs.store import standing_rules as rules_store
from memfs.store.blocks import Place
from memfs.store.standing_rules import StandingRule
from tests.ops.test_purge import SECRET
from tests.web.conftest import Answer, Client
from tests.web.test_search import say

SCRIPT = "<script>alert(1)</script>"


def state(place: Place, ident: str, text: str, **more: object) -> Fact:
    fact = Fact(ident, text, 0.9, "decision", ("Postgres",), host="claude", session="s-1",
                message="m0", at="2026-04-01T10:00:00Z", extractor="rules")  # fmt: skip
    fact = Fact(**{**fact.__dict__, **more})
    stored.write_facts(place.home, [fact])
    return fact


def decide(page: Client, what: str, name: str) -> Answer:
    """Press the button of one entry."""
    return page.do("facts", {"one": f"{what} {name}"})


def test_facts_are_shown_with_source_and_what_superseded_them(page: Client, place: Place) -> None:
    say(place, "We use Postgres for the API.")
    state(place, "a" * 16, "The API uses MySQL", status="superseded", by="b" * 16)
    state(place, "b" * 16, "The API uses Postgres")
    words = page.get("facts").words
    assert "The API uses Postgres" in words
    assert "1 fact" in words
    assert "Supersedes: The API uses MySQL" in words
    assert "found by rules" in words
    assert "90 % sure" in words
    assert "We use Postgres for the API." in words
    assert "Superseded by: The API uses Postgres" in page.get("facts?status=superseded").words
    assert "no fact" in page.get("facts?category=rule").words.lower()
    assert "no fact" in page.get("facts?name=kafka").words.lower()
    assert "no fact" in page.get("facts?q=kafka").words.lower()
    assert page.get("facts?q=(((&category=x&status=y").status == 200


def test_a_fact_is_accepted_and_rejected(page: Client, place: Place) -> None:
    fact = state(place, "c" * 16, "The API uses Postgres")
    assert "accepted: The API uses Postgres" in decide(page, "accept", f"fact:{fact.id}").words
    assert facts.select_facts(place)[0].status == "accepted"
    decide(page, "dismiss", f"fact:{fact.id}")
    assert not facts.select_facts(place)


def test_a_decision_leads_back_to_the_list_as_it_was(page: Client, place: Place) -> None:
    fact = state(place, "c" * 16, "The API uses Postgres")
    assert '/facts?status=active&amp;page=1"' in page.get("facts?status=active&page=1").text
    answer = page.post("facts?status=active&selected=all&page=1", {"one": f"accept fact:{fact.id}"})
    assert answer.headers["location"] == f"{page.base}/facts?status=active&page=1"


def test_a_fact_tells_where_it_was_stated(page: Client, place: Place) -> None:
    state(place, "a" * 16, "The API uses MySQL")
    assert "Recall no longer has its source." in page.get("facts").words
    say(place, "We use MySQL.")
    answer = page.get("facts")
    assert f'{page.base}/sessions/claude/s-1?message=m0#here"' in answer.text
    assert "“We use MySQL.”" in answer.words


def test_many_facts_come_in_pages(page: Client, place: Place) -> None:
    facts_ = [Fact(f"{n:016x}", f"Service{n} uses Redis", 0.9, "decision") for n in range(120)]
    stored.write_facts(place.home, facts_)
    first, last = page.get("facts?q=redis"), page.get("facts?q=redis&page=9")
    assert "page 1 of 3" in first.words
    assert '?page=2&amp;q=redis"' in first.text
    assert "page 3 of 3" in last.words
    assert last.text.count("data-entry") == 20


def test_an_offered_fact_is_taken_into_its_block(page: Client, place: Place) -> None:
    fact = state(place, "d" * 16, "The API uses Postgres")
    assert "Take it into system_rules" in page.get("facts").words
    assert "system_rules says it now" in decide(page, "take", f"fact:{fact.id}").words
    assert "The API uses Postgres" in show.run(place, "system_rules").block.value
    assert decide(page, "take", f"fact:{fact.id}").status == 404


def test_a_rule_is_taken_or_dropped(page: Client, place: Place) -> None:
    texts = ("Never deploy on Fridays.", "Always run the linter first.")
    found = [StandingRule("2026-04-01T10:00:00Z", "claude", "s-1", "m0", text) for text in texts]
    rules_store.write(place.home, found)
    assert "you stated it, not saved yet" in page.get("facts").words
    decide(page, "accept", f"rule:{found[0].id}")
    assert f"- {texts[0]}" in show.run(place, "system_rules").block.value
    assert history.log(place, "system_rules", 1)[0].reason == "stated on 2026-04-01"
    assert "the rule is dropped" in decide(page, "dismiss", f"rule:{found[1].id}").words
    assert not standing_rules.list_pending(place)
    assert decide(page, "accept", f"rule:{found[1].id}").status == 404


def test_selected_entries_are_accepted_dismissed_and_forgotten(page: Client, place: Place) -> None:
    texts = ("Never deploy on Fridays.", "Always run the linter first.", "Use tabs.")
    found = [StandingRule("2026-04-01T10:00:00Z", "claude", "s-1", "m0", text) for text in texts]
    rules_store.write(place.home, found)
    some = [state(place, each * 16, f"Service {each} uses Redis") for each in "abc"]
    assert "3 rules, 3 facts" in page.get("facts").words
    assert page.get("facts?selected=rule").text.count(" checked>") == 3
    assert page.get("facts?kind=rule&q=FRIDAY").text.count("data-entry") == 1
    picked = {f"pick:rule:{each.id}": "1" for each in found}
    assert "accepted: 3 rules" in page.do("facts?kind=rule", {**picked, "to": "accept"}).words
    assert all(text in show.run(place, "system_rules").block.value for text in texts[:2])
    picked = {f"pick:fact:{each.id}": "1" for each in some[:2]}
    answer = page.do("facts", {**picked, "pick:rule:gone": "1", "to": "dismiss"})
    assert "dismissed: 2 facts" in answer.words
    assert "this rule waits no more" in answer.words
    assert (
        "forgot: 1 fact" in page.do("facts", {"pick:fact:" + "c" * 16: "1", "to": "forget"}).words
    )
    assert [each.id for each in facts.select_facts(place, statuses=["rejected", "active"])] == [
        some[0].id, some[1].id
    ]  # fmt: skip
    assert "nothing is selected" in page.do("facts", {"to": "accept"}).words


def propose(
    place: Place, label: str, before: str, after: str, passage: str = "The gateway waits."
) -> str:
    """Leave a proposal of a model: a change of a block, and a passage."""
    draft = proposals.StoreDraft(place)
    edit.run(draft.place, [Replace(label, before, after)], Origin("agent"))
    archive.run(draft.place, passage, importance=5, tags=(), origin=Origin("agent"))
    found = draft.save_proposal("qwen", ("s-1",), f"I tidied. {SCRIPT}", "")
    assert found
    return found.id


def test_a_proposal_is_shown_as_a_diff_and_accepted(page: Client, place: Place) -> None:
    edit.run(place, [Append("system_rules", "No deploys on Friday!")], Origin("user"))
    ident = propose(place, "system_rules", "No deploys on Friday!", "Never deploy on Fridays.")
    shown = page.get("facts")
    assert "<del>-No deploys on Friday!</del>" in shown.text
    assert "<ins>+Never deploy on Fridays.</ins>" in shown.text
    assert "The gateway waits." in shown.words
    assert "I tidied." in shown.words
    assert "<script>alert" not in shown.text
    assert "taken: 1 block, 1 passage" in decide(page, "accept", f"proposal:{ident}").words
    assert show.run(place, "system_rules").block.value == "Never deploy on Fridays."
    assert decide(page, "accept", f"proposal:{ident}").status == 404


def test_what_somebody_decides_on_is_shown_as_it_is(page: Client, place: Place) -> None:
    turned = "a\u202eb \u200bc <!-- d --> \u2067e \ufe0f"  # what no edit refuses
    hidden = f"Use <private class=x>rm -rf</private> {turned}\x1b[8m"
    edit.run(place, [Append("system_rules", "No deploys on Friday!")], Origin("user"))
    state(place, "a" * 16, hidden, category="rule")
    rules_store.write(place.home, [StandingRule("", "claude", "s-1", "m0", f"Never {hidden}")])
    propose(place, "system_rules", "No deploys on Friday!", f"Go: {turned}", f"Keep: {turned}")
    seen = html.unescape(re.sub("<[^>]*>", "", page.get("facts").text))
    shown = r"a\u202eb \u200bc <!-- d --> \u2067e \ufe0f"
    whole = rf"Use <private class=x>rm -rf</private> {shown}\x1b[8m"
    for text in (whole, f"Never {whole}", f"+Go: {shown}", f"Keep: {shown}"):
        assert text in seen


def test_a_proposal_is_refused_or_dropped(page: Client, place: Place) -> None:
    edit.run(place, [Append("system_rules", "No deploys on Friday!")], Origin("user"))
    ident = propose(place, "system_rules", "No deploys", "Never deploy")
    edit.run(place, [Delete("system_rules")], Origin("user"))
    answer = decide(page, "accept", f"proposal:{ident}")
    assert answer.status == 400
    assert "was deleted or renamed since" in answer.words
    assert "the proposal is dropped" in decide(page, "dismiss", f"proposal:{ident}").words
    assert not proposals.list_pending(place.home)


def test_what_a_block_refuses_is_told_and_stays(page: Client, place: Place) -> None:
    fact = state(place, "d" * 16, "The API uses Postgres")
    edit.run(place, [Describe("system_rules", {"limit": 10})], Origin("user"))
    assert "the limit is 10" in decide(page, "take", f"fact:{fact.id}").words
    assert facts.select_facts(place)[0].status == "active"


def test_secrets_are_masked(page: Client, place: Place) -> None:
    say(place, f"The key is {SECRET}.")
    state(place, "a" * 16, f"The key is {SECRET}", entities=(SECRET,), category="rule")
    rules_store.write(place.home, [StandingRule("", "claude", "s-1", "m0", f"Never {SECRET}")])
    assert SECRET not in page.get("facts").words


def test_a_page_that_only_reads_decides_nothing(read_only: Client, place: Place) -> None:
    edit.run(place, [Append("system_rules", "No deploys on Friday!")], Origin("user"))
    propose(place, "system_rules", "No deploys", "Never deploy")
    rules_store.write(place.home, [StandingRule("", "claude", "s-1", "m0", "Always lint.")])
    fact = state(place, "a" * 16, "The API uses Postgres")
    shown = read_only.get("facts")
    assert "Always lint." in shown.words
    assert '<form method="post"' not in shown.text
    assert read_only.post("facts", {"one": f"dismiss fact:{fact.id}"}).status == 403


def test_hostile_facts_are_text(page: Client, place: Place) -> None:
    odd = {"entities": (SCRIPT,), "category": SCRIPT, "extractor": SCRIPT, "at": SCRIPT}
    say(place, SCRIPT)
    state(place, "e" * 16, f"{SCRIPT} is used", **odd)
    state(place, f'"{SCRIPT}', f"{SCRIPT} was used", status="superseded", by="e" * 16)
    rules_store.write(place.home, [StandingRule(SCRIPT, "claude", SCRIPT, SCRIPT, SCRIPT)])
    given = "%3Cscript%3Ealert(1)%3C/script%3E"
    answer = page.get(f"facts?q=&name={given}&status=superseded&x={given}")
    assert "<script>alert" not in answer.text
    answer = page.get("facts")
    assert answer.status == 200
    assert "<script>alert" not in answer.text
