"""The first page and what needs attention: what is new, what waits, and each action."""

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest

from memfs.core.body_edits import Append, Delete, Describe, Replace
from memfs.core.records import Fact, Origin
from memfs.ops import archive, edit, review, show
from memfs.store import clock, facts, prompt_log, proposals, standing_rules, trust
from memfs.store.blocks import Place
from memfs.store.prompt_log import PromptRecord
from memfs.store.standing_rules import StandingRule
from memfs.web.pages import home as home_page
from tests.web.conftest import Answer, Client
from tests.web.test_search import say

RULES = ("never push to main", "always run ruff before a commit", "no pickles in s3, please")
SCRIPT = "<script>alert(1)</script>"


def state_rules(place: Place, *texts: str) -> None:
    rules = [StandingRule("2026-04-01T10:00:00Z", "claude", "s-1", "m0", text) for text in texts]
    standing_rules.write(place.home, rules)


def find_id(place: Place, kind: str) -> str:
    return next(item.id for item in review.list_items(place) if item.kind == kind)


def test_a_quiet_memory_says_so_in_one_line(page: Client, place: Place) -> None:
    shown = page.get("attention").words
    assert "Needs attention Nothing to decide." in shown
    home = page.get("home").words
    assert "Nothing to decide." in home
    assert "No prompts are recorded here yet." in home


def test_the_first_page_shows_texts_news_and_what_prompts_were_given(
    page: Client, place: Place
) -> None:
    say(place, "How do we deploy?")
    edit.run(place, [Append("persona", f"Answers are short. {SCRIPT}")], Origin("agent", "claude"))
    note = PromptRecord(clock.seconds(), "claude", "s-1", 0.5, 0.4, "", "some words of text")
    prompt_log.note_prompt(place.home, note)
    answer = page.get("home")
    assert "Answers are short." in answer.words
    assert SCRIPT not in answer.text
    assert "append by agent in claude" in answer.words
    assert re.search(r"Today: 1 prompt, about \d tokens", answer.words)
    assert re.search(r"Sessions\s*1\b", answer.words)
    page.do("blocks/persona/undo")
    assert "Answers are short." not in page.get("home").words


def test_what_is_new_is_so_until_the_next_visit(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def visit(at: str) -> str:
        monkeypatch.setenv("MEMFS_NOW", at)
        return home_page.note_visit(place)

    assert visit("2026-05-09T10:00:00Z") == "2026-05-02T10:00:00Z", "the first: the last week"
    assert visit("2026-05-09T10:20:00Z") == "2026-05-02T10:20:00Z"
    assert visit("2026-05-11T09:00:00Z") == "2026-05-09T10:20:00Z"
    assert visit("2026-05-11T09:10:00Z") == "2026-05-09T10:20:00Z", "the visit goes on"
    Path(place.home.local, "visited").write_text("damaged")
    assert visit("2026-05-12T09:00:00Z") == "2026-05-05T09:00:00Z"


def decide(page: Client, what: str, ident: str) -> Answer:
    """Press the button of one item."""
    return page.do("attention", {"one": f"{what} {ident}", "back": "attention"})


def test_selected_items_are_accepted_and_dismissed(page: Client, place: Place) -> None:
    say(place, "Hello.")
    state_rules(place, *RULES)
    some = [Fact(each * 16, f"Service {each} uses Redis", 0.9, "decision") for each in "abc"]
    facts.write_facts(place.home, some)
    assert re.search(r"Needs attention\s*6\b", page.get("home").words)
    assert "6 items to decide" in page.get("attention").words
    picked = re.findall(
        r'name="(pick:\w+)"[^>]* checked>', page.get("attention?selected=rule").text
    )
    assert len(picked) == 3
    assert page.get("attention?selected=all").text.count(" checked>") == 6
    done = page.do("attention", {**dict.fromkeys(picked, "1"), "to": "accept", "back": "attention"})
    assert "accepted: 3 rules" in done.words
    text = show.run(place, "system_rules").block.value
    assert all(f"- {rule}" in text for rule in RULES)
    picked = [f"pick:{each.id}" for each in some[:2]]
    done = page.do("attention", {**dict.fromkeys([*picked, "pick:gone"], "1"), "to": "dismiss"})
    assert "dismissed: 2 facts" in done.words
    assert "this item is already decided" in done.words
    assert [each.status for each in facts.load_facts(place.home).values()] == [
        "rejected", "rejected", "active",
    ]  # fmt: skip
    assert "nothing is selected" in page.do("attention", {"to": "accept"}).words


def test_what_is_dismissed_does_not_come_back(page: Client, place: Place) -> None:
    state_rules(place, f"never use {SCRIPT}")
    shown = page.get("attention")
    assert SCRIPT not in shown.text
    ident = find_id(place, "rule")
    assert "dismissed: never use" in decide(page, "dismiss", ident).words
    assert "Nothing to decide." in page.get("attention").words
    assert "is already decided" in decide(page, "accept", ident).words


def test_what_a_block_refuses_is_told_and_stays(page: Client, place: Place) -> None:
    state_rules(place, *RULES[:2])
    edit.run(place, [Describe("system_rules", {"limit": 10})], Origin("user"))
    picked = {f"pick:{item.id}": "1" for item in review.list_items(place) if item.kind == "rule"}
    answer = page.do("attention", {**picked, "to": "accept", "back": "attention"})
    assert "the limit is 10" in answer.words
    assert "accepted" not in answer.words
    assert "2 rules" in answer.words


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
    shown = page.get("attention")
    assert "<del>-No deploys on Friday!</del>" in shown.text
    assert "<ins>+Never deploy on Fridays.</ins>" in shown.text
    assert "The gateway waits." in shown.words
    assert "I tidied." in shown.words
    assert "<script>alert" not in shown.text
    assert (
        "accepted: changes project:system_rules, 1 passage" in decide(page, "accept", ident).words
    )
    assert show.run(place, "system_rules").block.value == "Never deploy on Fridays."


def test_a_proposal_is_refused_or_dropped(page: Client, place: Place) -> None:
    edit.run(place, [Append("system_rules", "No deploys on Friday!")], Origin("user"))
    ident = propose(place, "system_rules", "No deploys", "Never deploy")
    edit.run(place, [Delete("system_rules")], Origin("user"))
    assert (
        "was deleted or renamed after the proposal was made" in decide(page, "accept", ident).words
    )
    assert "dismissed: changes project:system_rules" in decide(page, "dismiss", ident).words
    assert not proposals.list_pending(place.home)


def test_what_somebody_decides_on_is_shown_as_it_is(page: Client, place: Place) -> None:
    turned = "a\u202eb \u200bc <!-- d --> \u2067e \ufe0f"  # what no edit refuses
    hidden = f"Use <private class=x>rm -rf</private> {turned}\x1b[8m"
    edit.run(place, [Append("system_rules", "No deploys on Friday!")], Origin("user"))
    facts.write_facts(place.home, [Fact("a" * 16, hidden, 0.9, "rule")])
    state_rules(place, f"Never {hidden}")
    propose(place, "system_rules", "No deploys on Friday!", f"Go: {turned}", f"Keep: {turned}")
    seen = html.unescape(re.sub("<[^>]*>", "", page.get("attention").text))
    shown = r"a\u202eb \u200bc <!-- d --> \u2067e \ufe0f"
    whole = rf"Use <private class=x>rm -rf</private> {shown}\x1b[8m"
    for text in (whole, f"Never {whole}", f"+Go: {shown}", f"Keep: {shown}"):
        assert text in seen


def test_each_kind_has_its_action(page: Client, place: Place) -> None:
    edit.run(place, [Append("persona", "Name: Bob\nName: Alice")], Origin("user"))
    old = Fact("a" * 16, "The timeout is 5 s", 0.9, "environment", key="timeout", status="accepted")
    facts.write_facts(place.home, [old])
    new = replace(old, id="b" * 16, statement="The timeout is 9 s", status="active")
    facts.write_facts(place.home, [new])
    shown = page.get("attention")
    assert f'href="{page.base}/blocks/persona/edit"' in shown.text
    assert "Name: Bob Name: Alice" in shown.words
    decide(page, "accept", new.id)
    assert facts.load_facts(place.home)[old.id].status == "superseded"


def test_what_others_changed_is_not_decided_in_a_browser(page: Client, place: Place) -> None:
    assert place.project
    trust.revoke_trust(place.project)
    shown = page.get("attention")
    assert f'href="{page.base}/health/trust"' in shown.text
    [ident] = [item.id for item in review.list_items(place)]
    assert "pick:" not in shown.text
    for to in ("accept", "dismiss"):
        assert "memfs trust" in decide(page, to, ident).words
    place.project.decided = None
    assert not place.project.trusted
    assert page.get("home").status == 200
    assert not Path(place.home.local, "visited").exists()
