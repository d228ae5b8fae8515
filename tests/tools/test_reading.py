"""`memory_search` looks at everything or at one scope, `memory_read` reads what was found."""

import re

import pytest

from memfs.store.blocks import Place
from memfs.tools import catalog
from tests.ops.recorded_sessions import record
from tests.tools.conftest import Do

SCOPES = {"sessions": "message", "archive": "passage", "blocks": "block"}


@pytest.fixture
def told(place: Place, do: Do) -> Do:
    """Tell the memory of teapots in a session, a passage, and a block."""
    turns = [("user", f"the teapot number {n}") for n in range(25)]
    record(place.home, "s-1", *turns, ("tool", "x" * 900))
    do("archival_memory_insert", content="The teapot of the office is blue.")
    do("core_memory_append", label="human", content="Owns a teapot.")
    return do


def find_kinds(text: str) -> set[str]:
    kinds = {"message" if " session s-1" in line else line for line in text.splitlines()[1:]}
    return {name for name in SCOPES.values() if any(name in kind for kind in kinds)}


def test_a_search_looks_everywhere_or_at_one_scope(told: Do) -> None:
    everything = told("memory_search", query="teapot", limit=50, nearest=True)
    assert find_kinds(everything.text) == set(SCOPES.values())
    for scope, kind in SCOPES.items():
        found = told("memory_search", query="teapot", scope=scope, nearest=True)
        assert find_kinds(found.text) == {kind}
    nobody = told("memory_search", query="teapot", scope="team")
    assert nobody.text.startswith("no hits from the team")


def test_a_search_without_a_query_lists_what_was_said_from_a_day_on(told: Do) -> None:
    listed = told("memory_search", since="2020-01-01")
    assert listed.text.startswith("showing 1-5 of 26 messages; more with page=2")
    for scope in {*catalog.SCOPES} - {"sessions"}:
        refused = told("memory_search", since="7d", scope=scope)
        assert (
            f"error: the scope '{scope}' needs a query\nhint: to list messages since a given day, leave 'scope' out"
            in refused.text
        )
    for given in ({}, {"query": " "}, {"scope": "archive"}):
        refused = told("memory_search", **given)
        assert refused.is_error
        assert "memory_search needs 'query' or 'since'" in refused.text


def test_what_is_found_is_read_whole(told: Do) -> None:
    hits = told("memory_search", query="teapot of the office", scope="archive").text
    [ident] = re.findall(r"passage (\w+)", hits)
    assert "> The teapot of the office is blue." in told("memory_read", id=ident).text
    assert told("memory_read", id="human").text.endswith("Owns a teapot.")
    assert "[user:human]" in told("memory_read").text
    first = told("memory_read", id="s-1").text
    assert first.startswith("showing 1-20 of 26 messages; more with page=2\n1. turn 1, ")
    last = told("memory_read", id="s-1", page=2).text
    assert "the teapot number 24" in last
    assert "… (900 characters)" in last
    unknown = told("memory_read", id="s-9")
    assert unknown.is_error
    assert "no block, session or passage has the id 's-9'" in unknown.text
    assert "did you mean 'human'? " in told("memory_read", id="humn").text
    for shown in re.findall(r"^\[.+?\]", told("memory_read").text, re.MULTILINE):
        for ident in (shown, shown.upper(), f"[{shown.partition(':')[2]}".upper()):
            assert told("memory_read", id=ident).text.startswith(shown)


def test_what_was_paged_out_comes_back_by_the_same_tool(told: Do) -> None:
    told("memory_rethink", label="human", new_value="Likes tea.\n\n" + "The port is 8080.\n" * 40)
    out = told("memory_page_out", label="human", task="tea")
    assert out.text.endswith("memory_page_out human with back: true restores these parts")
    back = told("memory_page_out", label="human", back=True)
    assert back.text.startswith("restored the paged-out parts of 'human'")
