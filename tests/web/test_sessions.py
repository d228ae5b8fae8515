"""Sessions in the page: the list, one by pages, find, stars, titles, outcome, forgetting."""

import re

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
    assert first.text.count(">Prompt number") + second.text.count(">Prompt number") == 60
    only = page.get("sessions?host=codex").words
    assert "Asked of Codex" in only
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
    assert "1 message with" in found.words
    assert "?page=3&amp;find=NEEDLE#m450" in found.text
    assert 'id="here"' in page.get("sessions/claude/s-1?message=m450").text
    assert "Turn 450" in page.get("sessions/claude/s-1?turn=226").words


def test_an_outcome_is_said(page: Client, place: Place) -> None:
    say(place, "Fix the gateway.", "Fixed.")
    answer = page.do("sessions/claude/s-1/outcome", {"how": "worked", "why": "tests pass"})
    assert "marked session s-1 as worked" in answer.words
    assert sessions.list_sessions(place)[0].outcome == "worked"


def test_a_session_is_forgotten_after_a_yes(page: Client, place: Place) -> None:
    say(place, "Fix the gateway.", "Fixed.")
    asked = page.do("sessions", {"pick:claude/s-1": "1", "to": "forget"})
    assert "Forget this session? memfs removes the session from recall" in asked.words
    assert "You cannot undo this" in asked.words
    (names,) = re.findall(r'name="sessions" value="([^"]*)"', asked.text)
    assert sessions.list_sessions(place)
    answer = page.do("sessions/forget", {"yes": "1", "sessions": names})
    assert "forgot 1 session: 2 messages, 0 facts" in answer.words
    assert not sessions.list_sessions(place)
    assert page.get("sessions/claude/s-1").status == 404


def test_many_are_forgotten_by_conditions_but_for_starred_ones(page: Client, place: Place) -> None:
    for number in range(3):
        say(place, f"Fix {number}.", "Fixed.", session=f"s/{number}")
    say(place, "Draw it.", session="c-1", host="codex")
    answer = page.do("sessions?host=claude", {"pick:claude/s%2F0": "1", "to": "star"})
    assert "starred: Fix 0" in answer.words
    assert "3 sessions that match" in answer.words
    assert "1 session that matches" in page.get("sessions?host=codex").words
    asked = page.get("sessions/forget?host=claude&period=April+2026")
    assert "Forget 2 sessions? 1 starred session stays." in asked.words
    (names,) = re.findall(r'name="sessions" value="([^"]*)"', asked.text)
    page.do("sessions/forget", {"yes": "1", "sessions": f"{names} claude/gone"})
    assert [each.id for each in sessions.list_sessions(place)] == ["s/0", "c-1"]
    assert "no sessions to forget" in page.get("sessions/forget?period=Today").words
    assert "no session is selected" in page.do("sessions", {"to": "forget"}).words


def test_conditions_stand_in_the_address(page: Client, place: Place) -> None:
    say(place, "Fix the gateway.", "It is FIXED now.")
    say(place, "Draw it.", session="s-2")
    page.do("sessions/claude/s-1/outcome", {"how": "worked", "why": ""})
    for query, count in (
        ("q=fixed+now", 1), ("since=2026-04-02", 1), ("until=2026-04-01", 1), ("outcome=worked", 1),
        ("outcome=failed", 0), ("starred=yes", 0), ("host=codex", 0), ("since=2026-01-01&q=it", 2),
    ):  # fmt: skip
        assert page.get(f"sessions?{query}").text.count("data-entry") == count, query
    assert "not a date" in page.get("sessions?since=soon").words
    every = page.get("sessions?selected=all")
    assert every.text.count(" checked>") == 2
    assert "April 2026 2 sessions" in every.words
    assert 'title="2026-04-02 10:00 UTC">2026-04-02</time> · 2 messages' in every.text


def test_a_title_and_a_star_are_given_and_taken(page: Client, place: Place) -> None:
    say(place, "Fix the gateway.", "Fixed.")
    answer = page.do("sessions/claude/s-1", {"title": f"<b>Gate</b> {SECRET}"})
    assert "the title is now &#39;&lt;b&gt;Gate&lt;/b&gt; [redacted" in answer.text
    page.do("sessions", {"pick:claude/s-1": "1", "to": "star"})
    assert sessions.list_sessions(place)[0].starred
    page.do("sessions", {"pick:claude/s-1": "1", "to": "unstar"})
    page.do("sessions/claude/s-1", {"title": ""})
    (found,) = sessions.list_sessions(place)
    assert (found.starred, found.title) == (False, "Fix the gateway")


def test_markdown_is_rendered_without_what_a_browser_would_fetch_or_run(
    page: Client, place: Place
) -> None:
    said = """# Found
**bold** `a<b` <img src=x onerror=alert(1)> ![pixel](https://evil.example/p.png)
[web](https://a.example/?q="><i>) [mail](mailto:a@b.example) [no](javascript:alert(1)) [x](src/a.py)
[data](data:text/html,x) [odd](https://[) <https://auto.example> <javascript:alert(2)>

| a |
|--:|
| 1 |
"""
    say(place, "**as typed**", said)
    text = page.get("sessions/claude/s-1?find=bold").text
    assert '<p class="heading h1"><strong>Found</strong></p>' in text
    assert "<strong><mark>bold</mark></strong> <code>a&lt;b</code> &lt;img src=x" in text
    assert "**as typed**" in text
    links = re.findall(
        r'<a href="([^"]*)" rel="noopener noreferrer nofollow" target="_blank">', text
    )
    assert links == ["https://evil.example/p.png", "https://a.example/?q=%22%3E%3Ci%3E",
                     "mailto:a@b.example", "https://%5B", "https://auto.example"]  # fmt: skip
    body = text.partition("<main")[2]
    assert not re.search(r'<img|<script|style=|href="(?:javascript|data|src)', body)
    assert "**bold**" in page.get("sessions/claude/s-1?text=yes").text
    say(place, "Long", f"**{'x' * 60_000}**", session="s-2")
    assert "**xxx" in page.get("sessions/claude/s-2").text


def test_other_files_are_no_sessions(page: Client, place: Place) -> None:
    say(place, "Fix the gateway.")
    for path in ("sessions/../s-1", "sessions/claude/..%2f..%2fjournal", "sessions/nohost/s-1",
                 "sessions/claude/%00", "sessions/claude/s"):  # fmt: skip
        assert page.get(path).status in (400, 404)


def test_how_it_went_is_drawn_or_said_to_be_missing(page: Client, place: Place) -> None:
    say(place, "Fix the gateway.", "Fixed.")
    answer = page.get("sessions/claude/s-1/flow")
    assert answer.status == 200
    assert "How the session went" in answer.words
