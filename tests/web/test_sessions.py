"""Sessions in the page: the list, one by pages, find, outcome, forget."""

from __future__ import annotations

from memfs.ops import sessions
from memfs.store.blocks import Place
from tests.ops.test_purge import SECRET
from tests.web.conftest import Client
from tests.web.test_search import say


def test_sessions_are_listed_the_last_first_by_pages(page: Client, place: Place) -> None:
    for number in range(60):
        say(place, f"Prompt number {number}.", "Done.", session=f"s-{number:02}")
    say(place, "Asked of Codex.", session="c-1", host="codex")
    first, second = page.get("sessions"), page.get("sessions?page=2")
    assert "page 1 of 2" in first.words
    assert first.text.count("Prompt number") + second.text.count("Prompt number") == 60
    only = page.get("sessions?host=codex").words
    assert "Asked of Codex." in only
    assert "Prompt number" not in only


def test_an_empty_list_names_the_next_command(page: Client) -> None:
    assert "memfs ingest" in page.get("sessions").words


def test_a_long_session_comes_in_pages_with_find_and_jumps(page: Client, place: Place) -> None:
    texts = [f"Turn {n}" + (" needle" if n == 450 else "") for n in range(500)]
    say(place, *texts)
    first = page.get("sessions/claude/s-1")
    assert "500 messages" in first.words
    assert "page 1 of 3" in first.words
    assert "Turn 199" in first.words
    assert "assistant turn 101" not in first.words
    assert "needle" in page.get("sessions/claude/s-1?page=3").words
    found = page.get("sessions/claude/s-1?find=NEEDLE")
    assert "1 place with" in found.words
    assert "?page=3&amp;find=NEEDLE#m450" in found.text
    assert 'id="here"' in page.get("sessions/claude/s-1?message=m450").text
    assert "Turn 450" in page.get("sessions/claude/s-1?turn=226").words


def test_tools_are_folded_and_secrets_masked(page: Client, place: Place) -> None:
    say(place, f"<script>alert(1)</script> {SECRET}", "Fine.")
    text = page.get("sessions/claude/s-1").text
    assert SECRET not in text
    assert "<script>alert" not in text


def test_an_outcome_is_said(page: Client, place: Place) -> None:
    say(place, "Fix the gateway.", "Fixed.")
    answer = page.do("sessions/claude/s-1/outcome", {"how": "worked", "why": "tests pass"})
    assert "session s-1: worked" in answer.words
    assert sessions.list_sessions(place)[0].outcome == "worked"


def test_a_session_is_forgotten_after_a_yes(page: Client, place: Place) -> None:
    say(place, "Fix the gateway.", "Fixed.")
    asked = page.do("sessions/claude/s-1/forget")
    assert "cannot be undone" in asked.words
    assert sessions.list_sessions(place)
    answer = page.do("sessions/claude/s-1/forget", {"yes": "1"})
    assert "forgot 2 messages and 0 facts" in answer.words
    assert not sessions.list_sessions(place)
    assert page.get("sessions/claude/s-1").status == 404


def test_other_files_are_no_sessions(page: Client, place: Place) -> None:
    say(place, "Fix the gateway.")
    for path in ("sessions/../s-1", "sessions/claude/..%2f..%2fjournal", "sessions/nohost/s-1",
                 "sessions/claude/%00", "sessions/claude/s"):  # fmt: skip
        assert page.get(path).status in (400, 404)


def test_how_it_went_is_drawn_or_said_to_be_missing(page: Client, place: Place) -> None:
    say(place, "Fix the gateway.", "Fixed.")
    answer = page.get("sessions/claude/s-1/flow")
    assert answer.status == 200
    assert "How it went" in answer.words
