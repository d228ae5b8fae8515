"""What prompts brought, in the page: why, what fell short, and what was wrong."""

import re

from memfs.ops import brief
from memfs.recall import index_sources
from memfs.store import dismissals
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.cli.conftest import memfs as memfs  # noqa: PLC0414 - the fixture
from tests.web.conftest import Client
from tests.web.test_search import say

PROMPT = "why is the gateway so slow with locks?"


def ask(place: Place, prompt: str, session: str) -> str:
    later = Place(place.project, place.user, session)
    brief.start(later)
    return brief.prompt(later, prompt, host="claude").context


def test_what_was_wrong_is_dismissed_with_a_button_and_comes_again_with_another(
    page: Client, place: Place
) -> None:
    say(place, "Why is the gateway slow?", "The gateway waits for its locks.")
    index_sources.sync(place, embed=False)
    assert "gateway waits" in ask(place, PROMPT, "one")
    assert not ask(place, "which colour has the gateway of the harbour at night?", "two")
    answer = page.get("prompts")
    assert "Searched by words only: no service answered." in answer.words
    assert re.search(r"2026-04-02 session s-1, \d\d characters, words: \w+", answer.words)
    assert re.search(
        r"Closest past exchange: 0\.\d\d, needed: 0\.42\. The exchange is 2026-04-01", answer.words
    )
    (button,) = re.findall(rf'action="{page.base}/(prompts/\w+)"', answer.text)
    answer = page.do(button, {"to": "wrong"})
    assert "dismissed for similar prompts: 2026-04-02 session s-1" in answer.words
    assert answer.text.count("Recall again") == 2
    assert not ask(place, PROMPT, "three")
    assert "similar prompts can recall this text again" in page.do(button, {"to": "right"}).words
    assert dismissals.read(place.home) == []
    assert page.do(button, {"to": "right"}).status == 404


def test_it_shows_what_the_first_wired_assistant_gets(page: Client, memfs: Run) -> None:
    assert "<option selected>" not in page.get("brief").text
    assert memfs("install", "codex").code == 0
    assert "<option selected>codex</option>" in page.get("brief").text
    assert "<option selected>" not in page.get("brief?host=").text


def test_without_a_prompt_the_page_says_what_comes_there(read_only: Client) -> None:
    assert "No prompts are recorded here yet." in read_only.get("prompts").words
