"""Blocks in the page: what is shown, and each edit of them."""

import html
import re
from collections.abc import Callable
from pathlib import Path

from memfs.core.body_edits import Append
from memfs.core.records import Origin
from memfs.ops import edit, history, show, trust
from memfs.store.blocks import Place
from tests.ops.test_purge import SECRET
from tests.web.conftest import Client

BY = Origin("agent", "claude", "s")


def test_blocks_are_listed_by_tier_with_their_sizes(page: Client) -> None:
    words = page.get("blocks").words
    assert words.index("This project") < words.index("persona") < words.index("Yours")
    assert "of 5,000 characters" in words


def test_an_edit_is_shown_before_it_is_saved(page: Client, place: Place) -> None:
    shown = show.run(place, "persona")
    form = {"text": "I answer briefly.", "version": str(shown.version), "reason": "too long"}
    answer = page.do("blocks/persona/edit", form)
    assert "+I answer briefly." in html.unescape(answer.words)
    assert show.run(place, "persona").block.value == shown.block.value
    answer = page.do("blocks/persona/edit", {**form, "save": "1"})
    assert "saved version 2 of &#39;persona&#39;" in answer.words
    assert show.run(place, "persona").block.value == "I answer briefly."
    entry = history.log(place, "persona", 1)[0]
    assert (entry.actor, entry.host, entry.reason) == ("user", "web", "too long")


def test_what_somebody_changed_meanwhile_is_not_written_over(page: Client, place: Place) -> None:
    version = str(show.run(place, "persona").version)
    edit.run(place, [Append("persona", "Meanwhile.")], BY)
    form = {"text": "Mine.", "version": version, "save": "1"}
    answer = page.do("blocks/persona/edit", form)
    assert answer.status == 400
    assert "it is at version 2, not 1" in answer.words
    assert "Mine." in answer.text
    assert show.run(place, "persona").block.value.endswith("Meanwhile.")


def test_refusals_are_those_of_the_command_line(page: Client, place: Place) -> None:
    for text, why in (("x" * 6000, "the limit is 5,000"), (f"key: {SECRET}", "secret")):
        answer = page.do("blocks/persona/edit", {"text": text, "version": "1", "save": "1"})
        assert (answer.status, why in answer.words) == (400, True)
    assert show.run(place, "persona").version == 1


def test_a_block_is_made_described_deleted_and_brought_back(page: Client, place: Place) -> None:
    new = {"label": "api/retries", "description": "How we retry", "text": "Wait.", "pinned": "on"}
    assert "saved version 1 of &#39;api/retries&#39;" in page.do("blocks/new", new).words
    keys = {"description": "Retries", "limit": "900", "version": "1"}
    answer = page.do("blocks/api/retries/keys", keys)
    assert "5 of 900 characters" in answer.words
    block = show.run(place, "api/retries").block
    assert (block.description, block.limit, block.pinned) == ("Retries", 900, False)
    answer = page.do("blocks/api/retries/delete")
    assert "saved version 3 of &#39;api/retries&#39;" in answer.words
    assert (
        "undid the last edit of &#39;api/retries&#39;: delete, version 3"
        in page.do("blocks/api/retries/undo").words
    )
    assert show.run(place, "api/retries").block.value == "Wait."


def test_a_page_that_renews_itself_takes_no_note_of_another(page: Client, place: Place) -> None:
    page.post("blocks/persona/delete")
    assert "saved version" not in page.get("blocks", memfs_refresh="yes").words
    assert "saved version 2 of &#39;persona&#39;" in page.get("blocks").words
    assert "saved version" not in page.get("blocks").words


def test_an_earlier_version_is_restored(page: Client, place: Place) -> None:
    before = show.run(place, "persona").block.value
    edit.run(place, [Append("persona", "More.")], BY)
    answer = page.do("blocks/persona/restore", {"version": "1"})
    assert "restored &#39;persona&#39; to version 1" in answer.words
    assert show.run(place, "persona").block.value == before


def test_the_users_own_block_is_another_one(page: Client, place: Place) -> None:
    new = {"label": "notes", "text": "Mine.", "tier": "user"}
    assert page.do("blocks/new", new).status == 200
    assert page.do("blocks/new", {**new, "text": "Ours.", "tier": "project"}).status == 200
    assert "Mine." in page.get("blocks/user:notes").words
    assert "Ours." in page.get("blocks/project:notes").words


def test_what_is_marked_as_private_is_shown_as_assistants_are_given_it(
    page: Client, place: Place, block_file: Callable[[str, str], Path]
) -> None:
    text = "Before <private>obey\u202e</private> after"
    block_file("sly", f"---\ndescription: d\npinned: true\n---\n{text}\n")
    shown = r"Before <private>obey\u202e</private> after"
    for path in ("blocks/sly", "blocks/sly/blame", "brief"):
        assert shown in html.unescape(page.get(path).text), path
    answer = page.post("blocks/sly/edit", {"text": text, "version": "1"})
    assert text in html.unescape(answer.text)
    assert "a secret" not in answer.words


def test_a_block_that_is_no_utf_8_is_shown(
    page: Client, block_file: Callable[[str, str], Path]
) -> None:
    block_file("bytes", "---\ndescription: d\npinned: true\n---\nA \udcff byte.\n")
    for path in ("blocks/bytes", "blocks/bytes/blame", "blocks/bytes/edit", "health/trust"):
        assert r"A \udcff byte." in re.sub("<[^>]*>", "", page.get(path).text), path


def test_a_number_that_is_none_is_refused(page: Client) -> None:
    answer = page.do("blocks/persona/keys", {"limit": "many", "version": "1"})
    assert (answer.status, "expected a number" in answer.words) == (400, True)


def test_what_trust_holds_back_is_shown_as_held_back(page: Client, place: Place) -> None:
    assert "not trusted yet" not in page.get("blocks").words
    trust.revoke(place)
    assert "not trusted yet" in page.get("blocks").words
