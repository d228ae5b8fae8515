"""The first page and what needs attention: what is new, what waits, and each action."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from memfs.core.body_edits import Append
from memfs.core.records import Fact, Origin
from memfs.ops import edit, review, show
from memfs.store import clock, facts, prompt_log, standing_rules, trust
from memfs.store.blocks import Place
from memfs.store.prompt_log import PromptRecord
from memfs.store.standing_rules import StandingRule
from memfs.web import news
from tests.web.conftest import Client
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
    assert "Needs attention Nothing waits for you." in shown
    home = page.get("home").words
    assert "Nothing waits for you." in home
    assert "No prompt was answered here yet." in home


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
        return news.note_visit(place)

    assert visit("2026-05-09T10:00:00Z") == "2026-05-02T10:00:00Z", "the first: the last week"
    assert visit("2026-05-09T10:20:00Z") == "2026-05-02T10:20:00Z"
    assert visit("2026-05-11T09:00:00Z") == "2026-05-09T10:20:00Z"
    assert visit("2026-05-11T09:10:00Z") == "2026-05-09T10:20:00Z", "the visit goes on"
    Path(place.home.local, "visited").write_text("damaged")
    assert visit("2026-05-12T09:00:00Z") == "2026-05-05T09:00:00Z"


def test_three_rules_are_accepted_together(page: Client, place: Place) -> None:
    say(place, "Hello.")
    state_rules(place, *RULES)
    shown = page.get("attention")
    assert re.search(r"Needs attention\s*3\b", shown.words)
    [ids] = re.findall(r'name="ids" value="([^" ]+ [^"]+)"', shown.text)
    done = page.do("attention", {"ids": ids, "to": "accept", "back": "attention"})
    assert done.words.count("accepted:") == 3
    assert "Nothing waits for you." in done.words
    text = show.run(place, "system_rules").block.value
    assert all(rule in text for rule in RULES)


def test_what_is_dismissed_does_not_come_back(page: Client, place: Place) -> None:
    state_rules(place, f"never use {SCRIPT}")
    shown = page.get("attention")
    assert SCRIPT not in shown.text
    ident = find_id(place, "rule")
    assert "dismissed: never use" in page.do("attention", {"ids": ident, "to": "dismiss"}).words
    assert "Nothing waits for you." in page.get("attention").words
    again = page.do("attention", {"ids": ident, "to": "accept"})
    assert "does not wait any more" in again.words


def test_each_kind_has_its_action(page: Client, place: Place) -> None:
    edit.run(place, [Append("persona", "Name: Bob\nName: Alice")], Origin("user"))
    old = Fact("a" * 16, "The timeout is 5 s", 0.9, "environment", key="timeout", status="accepted")
    facts.write_facts(place.home, [old])
    new = replace(old, id="b" * 16, statement="The timeout is 9 s", status="active")
    facts.write_facts(place.home, [new])
    shown = page.get("attention")
    assert f'href="{page.base}/blocks/persona/edit"' in shown.text
    assert "Name: Bob Name: Alice" in shown.words
    page.do("attention", {"ids": new.id, "to": "accept"})
    assert facts.load_facts(place.home)[old.id].status == "superseded"


def test_what_others_changed_is_not_decided_in_a_browser(page: Client, place: Place) -> None:
    assert place.project
    trust.revoke_trust(place.project)
    shown = page.get("attention")
    assert f'href="{page.base}/health/trust"' in shown.text
    [ident] = re.findall(r'name="ids" value="([^"]+)"', shown.text)[:1]
    for to in ("accept", "dismiss"):
        assert "memfs trust" in page.do("attention", {"ids": ident, "to": to}).words
    place.project.decided = None
    assert not place.project.trusted
    assert page.get("home").status == 200
    assert not Path(place.home.local, "visited").exists()


def test_a_page_that_only_reads_decides_and_notes_nothing(read_only: Client, place: Place) -> None:
    state_rules(place, RULES[0])
    assert '<form method="post"' not in read_only.get("attention").text
    assert read_only.get("home").status == 200
    assert not Path(place.home.local, "visited").exists()
    assert (
        read_only.post("attention", {"ids": find_id(place, "rule"), "to": "accept"}).status == 403
    )
