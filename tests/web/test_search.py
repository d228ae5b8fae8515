"""Search in the page: hits with reasons, and filters that stand in the address."""

import re
import subprocess

from memfs.core.records import Message
from memfs.ops import archive
from memfs.store import recall
from memfs.store.blocks import Place
from tests.ops.imports import BY
from tests.web.conftest import Client


def say(place: Place, *texts: str, session: str = "s-1", host: str = "claude") -> None:
    """Put a session into recall, in which user and assistant take turns."""
    said = [
        Message(f"m{n}", session, host, "", "main", f"2026-04-0{n + 1}T10:00:00Z",
                "assistant" if n % 2 else "user", text)
        for n, text in enumerate(texts)
    ]  # fmt: skip
    recall.write_session(recall.get_path(place.home, host, session), said)


def test_hits_are_shown_with_reasons_and_neighbours(page: Client, place: Place) -> None:
    say(place, "Why is the gateway slow?", "The gateway waits for a lock.")
    archive.run(place, "Gateway locks are held 5 s.", importance=5, tags=("ops",), origin=BY)
    answer = page.get("search?q=gateway+lock")
    assert re.search("words: (gateway, lock|lock, gateway)", answer.words)
    assert "<mark>gateway</mark>" in answer.text
    assert "Why is the <mark>gateway</mark> slow?" in answer.text or "user: Why" in answer.words
    assert f"{page.base}/sessions/claude/s-1?message=m1#here" in answer.text
    assert re.search(r"recall\s+2", answer.words)
    assert re.search(r"archive\s+1", answer.words)


def test_filters_stand_in_the_address(page: Client, place: Place) -> None:
    say(place, "The gateway is slow.", "It waits.")
    archive.run(place, "Gateway locks are held 5 s.", importance=5, tags=("ops",), origin=BY)
    assert "session s-1" not in page.get("search?q=gateway&in=archive").words
    assert "Gateway locks" in page.get("search?q=gateway&tag=ops").text.replace(
        "<mark>", ""
    ).replace("</mark>", "")
    assert "No hits." in page.get("search?q=gateway&until=2026-03-01&in=recall").words
    refused = page.get("search?q=gateway&since=soon")
    assert "not a date" in refused.words


def test_a_commit_is_shown_without_a_page_of_its_own(page: Client, place: Place) -> None:
    words = ["git", "commit", "-q", "--allow-empty", "-m", "Cap <b>retries</b> at the gateway"]
    subprocess.run([*words, "--author=Rita&Ann <r@x.example>"], cwd=place.home.top, check=True)
    answer = page.get("search?q=gateway+retries&in=commits")
    assert re.search(r"commit [0-9a-f]{7}, 2026-05-03", answer.words)
    assert "<b>" not in answer.text
    assert "Rita&amp;Ann" in answer.text
    assert re.search(r"commits\s+1", answer.words)


def test_without_a_question_it_is_said_what_is_searched(page: Client) -> None:
    assert "by words and by meaning" in page.get("search").words
    for odd in ("search?q=%00", "search?q=(((", "search?q=x&page=999999", "search?q=x&page=-1"):
        assert page.get(odd).status == 200
