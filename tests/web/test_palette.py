"""The page "Go to": pages, blocks, sessions and commands by their names."""

import re

from memfs.core.body_edits import Append
from memfs.core.records import Origin
from memfs.ops import edit, sessions, show
from memfs.store.blocks import Place
from tests.web.conftest import Client
from tests.web.test_search import say


def list_links(page: Client, query: str) -> list[str]:
    text = page.get(f"go?q={query}").text.partition("data-results")[2].partition("</main>")[0]
    return re.findall(rf'(?:href|action)="{page.base}/([^"]*)"', text)


def test_it_lists_what_the_words_name(page: Client, place: Place) -> None:
    say(place, "Fix the <b>gateway</b>.", session="s/1")
    sessions.rename_session(place, sessions.list_sessions(place)[0], "Zebra crossing")
    assert list_links(page, "PERSO") == ["blocks/persona", "search?q=PERSO"]
    assert list_links(page, "crossing+zebra") == [
        "sessions/claude/s%2F1", "search?q=crossing+zebra"
    ]  # fmt: skip
    assert list_links(page, "facts") == ["facts", "search?q=facts"]
    assert list_links(page, "last+week")[0] == "sessions/forget?period=Last+week"
    every = list_links(page, "")
    assert {"sessions", "blocks/persona", "blocks/new"} <= {*every}
    assert not [each for each in every if each.startswith("search?")]
    assert "<script>" not in page.get("go?q=<script>").text


def test_the_last_edit_is_undone_from_it(page: Client, place: Place) -> None:
    edit.run(place, [Append("persona", "Be brief.")], Origin("user"))
    assert "Undo the last edit: project:persona, version" in page.get("go?q=undo").words
    assert "undid the last edit of " in page.do(list_links(page, "undo")[0]).words
    assert "Be brief." not in show.run(place, "persona").block.value


def test_a_page_that_only_reads_has_no_commands(read_only: Client) -> None:
    assert list_links(read_only, "undo") == ["search?q=undo"]
    assert "blocks/new" not in list_links(read_only, "")
