"""Facts and rules in the page: filters, sources, decisions."""

from __future__ import annotations

from memfs.core.facts import Fact
from memfs.ops import facts, show, standing_rules
from memfs.store import facts as stored
from memfs.store import standing_rules as rules_store
from memfs.store.blocks import Place
from memfs.store.standing_rules import StandingRule
from tests.web.conftest import Client
from tests.web.test_search import say

SCRIPT = "<script>alert(1)</script>"


def state(place: Place, ident: str, text: str, **more: object) -> Fact:
    fact = Fact(ident, text, 0.9, "decision", ("Postgres",), host="claude", session="s-1",
                message="m0", at="2026-04-01T10:00:00Z", extractor="rules")  # fmt: skip
    fact = Fact(**{**fact.__dict__, **more})
    stored.write_facts(place.home, [fact])
    return fact


def test_facts_are_shown_with_source_and_what_superseded_them(page: Client, place: Place) -> None:
    say(place, "We use Postgres for the API.")
    state(place, "a" * 16, "The API uses MySQL", status="superseded", by="b" * 16)
    state(place, "b" * 16, "The API uses Postgres")
    words = page.get("facts").words
    assert "The API uses Postgres" in words
    assert "MySQL" not in words
    assert "found by rules" in words
    assert "We use Postgres for the API." in words
    assert "Superseded by: The API uses Postgres" in page.get("facts?status=superseded").words
    assert "no fact" in page.get("facts?q=kafka").words.lower()
    assert page.get("facts?q=(((&category=x&status=y").status == 200


def test_a_fact_is_accepted_and_rejected(page: Client, place: Place) -> None:
    fact = state(place, "c" * 16, "The API uses Postgres")
    assert "accepted: The API uses Postgres" in page.do(f"facts/{fact.id}", {"to": "accept"}).words
    assert facts.select_facts(place)[0].status == "accepted"
    page.do(f"facts/{fact.id}", {"to": "reject"})
    assert not facts.select_facts(place)


def test_an_offered_fact_is_taken_into_its_block(page: Client, place: Place) -> None:
    fact = state(place, "d" * 16, "The API uses Postgres")
    assert "1 fact that a block could say" in page.get("facts").words
    assert "system_rules says it now" in page.do(f"facts/{fact.id}/take").words
    assert "The API uses Postgres" in show.run(place, "system_rules").block.value
    assert page.do(f"facts/{fact.id}/take").status == 404


def test_a_rule_is_taken_or_dropped(page: Client, place: Place) -> None:
    texts = ("Never deploy on Fridays.", "Always run the linter first.")
    found = [StandingRule("2026-04-01T10:00:00Z", "claude", "s-1", "m0", text) for text in texts]
    rules_store.write(place.home, found)
    assert "no block says them" in page.get("facts").words
    page.do(f"rules/{found[0].id}", {"to": "take"})
    assert texts[0] in show.run(place, "system_rules").block.value
    assert "the rule is dropped" in page.do(f"rules/{found[1].id}", {"to": "drop"}).words
    assert not standing_rules.list_pending(place)
    assert page.do(f"rules/{found[1].id}", {"to": "take"}).status == 404


def test_hostile_facts_are_text(page: Client, place: Place) -> None:
    state(place, "e" * 16, f"{SCRIPT} is used", entities=(SCRIPT,))
    answer = page.get("facts")
    assert answer.status == 200
    assert "<script>alert" not in answer.text
