"""Facts in the page: filters, sources, forgetting."""

import re

from memfs.core.records import Fact
from memfs.store import facts as stored
from memfs.store.blocks import Place
from tests.web.conftest import Client
from tests.web.test_search import say


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
    assert "2 facts" in words
    assert "Supersedes: The API uses MySQL" in words
    assert "found by rules" in words
    assert "90 % sure" in words
    assert "We use Postgres for the API." in words
    assert "Superseded by: The API uses Postgres" in words
    assert "Supersedes: The API" not in page.get("facts?status=superseded").words
    assert "no fact" in page.get("facts?category=rule").words.lower()
    assert "no fact" in page.get("facts?name=kafka").words.lower()
    assert "no fact" in page.get("facts?q=kafka").words.lower()
    assert page.get("facts?q=(((&category=x&status=y").status == 200


def test_a_fact_tells_where_it_was_stated(page: Client, place: Place) -> None:
    state(place, "a" * 16, "The API uses MySQL")
    assert "The source is no longer stored." in page.get("facts").words
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


def test_selected_facts_are_forgotten(page: Client, place: Place) -> None:
    some = [state(place, each * 16, f"Service {each} uses Redis") for each in "abc"]
    where = "facts?status=active&selected=all&page=1"
    assert page.get(where).text.count(" checked>") == 3
    answer = page.post(where, {f"pick:{each.id}": "1" for each in some[:2]})
    assert answer.headers["location"] == f"{page.base}/facts?status=active&page=1"
    assert "forgot 2 facts" in page.get("facts").words
    assert [*stored.load_facts(place.home)] == [some[2].id]
    assert "nothing is selected" in page.do("facts").words


def test_a_fact_to_decide_leads_to_where_it_is_decided(page: Client, place: Place) -> None:
    state(place, "a" * 16, "The API uses Postgres")
    state(place, "b" * 16, "The API may use Redis", confidence=0.3)
    assert re.findall(r"attention#item-(\w+)", page.get("facts").text) == ["a" * 16]
    assert f'id="item-{"a" * 16}"' in page.get("attention").text
