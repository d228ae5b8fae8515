"""A first week, as a person would click it: with scripts, and without."""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
from playwright.sync_api import expect

from memfs.core.body_edits import Append
from memfs.core.records import Message
from memfs.ops import edit, sessions, show
from memfs.recall import index_sources
from memfs.store import clock, prompt_log, recall, store_paths
from memfs.store.blocks import Place
from memfs.store.prompt_log import PromptRecord
from tests.ops.imports import BY
from tests.web.browser.conftest import Visitor


@pytest.mark.parametrize("scripts", [True, False])
def test_a_week_is_clicked(visitor: Visitor, week: Place, scripts: bool) -> None:
    visitor.open()
    visit = visitor.open(scripts=scripts)
    page = visit.go("blocks")
    page.get_by_role("link", name="persona").click()
    page.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_label("Text").fill("I answer in one sentence.")
    page.get_by_role("button", name="Preview the change").click()
    assert page.locator("pre.diff ins").first.inner_text() == "+I answer in one sentence."
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").first).to_contain_text("saved version")
    page.get_by_role("link", name="History").click()
    page.get_by_role("button", name="Undo the last edit").click()
    expect(page.get_by_role("status").first).to_contain_text("undid the last edit of ")
    assert "short" in show.run(week, "persona").block.value

    page.get_by_label("Search everything").fill("gateway lock")
    page.get_by_label("Search everything").press("Enter")
    page.get_by_role("link", name="session s-").first.click()
    page.locator(".target").wait_for()
    page.get_by_label("Find in this session").fill("turn 7")
    page.get_by_role("button", name="Find", exact=True).click()
    assert "1 message" in page.get_by_role("heading", level=2).first.inner_text()
    count = len(sessions.list_sessions(week))
    page.get_by_text("Title, star, outcome, forget").click()
    page.get_by_role("button", name="Forget…").click()
    page.get_by_role("button", name="Forget it").click()
    assert len(sessions.list_sessions(week)) == count - 1

    visit.go("facts")
    page.get_by_role("link", name="decide").click()
    page.locator(":target").get_by_role("button", name="Add it to system_rules").click()
    expect(page.get_by_role("status").first).to_contain_text("accepted: The gateway times out")

    assert week.project
    visit.go("health/trust")
    page.get_by_role("button", name="Stop trusting this store").click()
    assert not store_paths.is_trusted(week.project)
    expect(page.get_by_role("main")).to_contain_text("memfs trust")
    assert page.get_by_role("main").get_by_role("button").count() == 0
    assert not visit.complaints


def test_what_a_prompt_is_given_appears_by_itself(visitor: Visitor, week: Place) -> None:
    page = visitor.open().go("prompts")
    page.wait_for_timeout(1500)
    text = "The gateway lock times out. " * 9
    record = PromptRecord(clock.seconds(), "claude", "s-1", 0.5, 0.4, "", text)
    prompt_log.note_prompt(week.home, record)
    page.get_by_text(f"{len(text)} characters").wait_for(timeout=10_000)


def test_an_edit_elsewhere_appears_by_itself(visitor: Visitor, week: Place) -> None:
    visit = visitor.open()
    page = visit.go("blocks/persona")
    page.wait_for_timeout(1500)  # the news begin after the page
    edit.run(week, [Append("persona", "Added by somebody else.")], BY)
    page.get_by_text("Added by somebody else.").first.wait_for(timeout=10_000)
    assert not visit.complaints


def test_what_is_being_written_is_not_replaced(visitor: Visitor, week: Place) -> None:
    page = visitor.open().go("blocks/persona/edit")
    page.wait_for_timeout(1500)
    page.get_by_label("Text").fill("My own words.")
    edit.run(week, [Append("persona", "Added by somebody else.")], BY)
    page.wait_for_timeout(2500)
    assert page.get_by_label("Text").input_value() == "My own words."


def test_keys_move_and_open(visitor: Visitor) -> None:
    page = visitor.open().go("blocks")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.locator("[data-entry].chosen").count() == 1
    page.keyboard.press("Enter")
    page.wait_for_url("**/blocks/*")
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    page.wait_for_url("**/edit")
    page.locator("h1").click()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "find"


class _OtherPort(BaseHTTPRequestHandler):
    """Another program of this machine: it notes the cookies that it is sent."""

    cookies: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.cookies.append(self.headers.get("Cookie", ""))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        form = self.path.partition("?")[2]
        self.wfile.write(f'<form action="{form}"><button>Go</button></form>'.encode())

    def log_message(self, *_: object) -> None:
        pass


def test_another_port_is_sent_no_cookie_and_leads_nowhere(visitor: Visitor) -> None:
    """Not even one that knows where the page is: its links are those of another page."""
    visit = visitor.open()
    with ThreadingHTTPServer(("127.0.0.1", 0), _OtherPort) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        try:
            page = visit.page
            for path in ("", "blocks", "open", f"shop?{visit.base}/blocks"):
                page.goto(f"http://127.0.0.1:{other.server_port}/{path}")
            page.get_by_role("button", name="Go").click()
            page.get_by_text("this request comes from this page").wait_for()
        finally:
            other.shutdown()
            thread.join()
    assert len(_OtherPort.cookies) >= 4
    assert not [each for each in _OtherPort.cookies if "memfs" in each]
    visit.go("blocks")
    assert page.get_by_role("heading", level=1).inner_text() == "Blocks"


def test_the_code_is_typed_and_the_page_opens(visitor: Visitor) -> None:
    visit = visitor.open(let_in=False)
    page = visit.page
    page.goto(visit.access.address)
    assert not visit.find_violations()
    page.get_by_label("Code").fill("AAAA-BBBB-CCCC-DDDD")
    page.get_by_label("Code").press("Enter")
    page.get_by_text("This code is wrong").wait_for()
    page.get_by_label("Code").fill(visit.access.ticket)
    page.get_by_role("button", name="Open the page").click()
    page.wait_for_url("**/home")
    assert page.get_by_role("heading", level=1).inner_text() == "repo"
    page.reload()
    assert page.get_by_role("heading", level=1).inner_text() == "repo"


def test_the_palette_is_used_by_keys_alone(visitor: Visitor, week: Place) -> None:
    visit = visitor.open()
    page = visit.go("blocks")
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Go to")
    words = palette.get_by_label("Page, block, session or command")
    expect(words).to_be_focused()
    words.press_sequentially("turn 0 of 2")
    expect(palette.get_by_role("status")).to_have_text("2 entries")
    assert not visit.find_violations()
    page.keyboard.press("ArrowDown")
    expect(palette.get_by_role("link").first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/sessions/claude/s-2")
    page.keyboard.press("Control+k")
    palette.get_by_role("button", name="Undo the last edit").wait_for()
    page.keyboard.press("Escape")
    assert not palette.is_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("undo")
    expect(palette.get_by_role("listitem")).to_have_count(2)
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("undid the last edit of ")
    assert "世界" not in show.run(week, "persona").block.value
    assert not visit.complaints


@pytest.mark.parametrize("scripts", [True, False])
def test_what_people_come_for_takes_three_clicks(
    visitor: Visitor, week: Place, monkeypatch: pytest.MonkeyPatch, scripts: bool
) -> None:
    texts = ("never push to main", "always run ruff before a commit", "never use tabs in makefiles")
    said = [Message(f"r{n}", "rules", "claude", "", "main", "2026-04-01T10:00:00Z", "user", text)
            for n, text in enumerate(texts)]  # fmt: skip
    recall.write_session(recall.get_path(week.home, "claude", "rules"), said)
    index_sources.sync(week, embed=False)
    visitor.open()
    visit = visitor.open(scripts=scripts)
    page = visit.go("blocks")  # accept three rules
    page.get_by_role("link", name="Needs attention").click()
    page.get_by_role("link", name="Select these 3 rules").click()
    page.get_by_role("group").get_by_role("button", name="Accept").click()
    expect(page.get_by_role("status").first).to_contain_text("accepted: 3 rules")
    assert all(text in show.run(week, "system_rules").block.value for text in texts)

    page.get_by_role("link", name="Overview").click()  # undo the last edit
    page.get_by_role("button", name="Undo the last edit").first.click()
    expect(page.get_by_role("status").first).to_contain_text("undid the last edit of ")
    values = show.run(week, "system_rules").block.value
    assert sum(text in values for text in texts) == 2

    page.get_by_role("link", name="Overview").click()  # see what yesterday's prompts cost
    page.get_by_role("link", name="Cost by day and session").click()
    yesterday = page.locator("section[aria-labelledby=costs] tbody tr").nth(1)
    assert re.fullmatch(r"2\d{3}-\d\d-\d\d\s+1\s+\d+", yesterday.inner_text())

    page.get_by_role("link", name="Facts").click()  # find what was decided about the gateway
    page.get_by_label("Words").fill("gateway")
    page.get_by_label("Category").select_option("decision")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("[data-entry]")).to_contain_text("The gateway times out after 5 s")

    monkeypatch.setenv("MEMFS_NOW", "2026-04-08T12:00:00Z")  # forget last week's sessions
    page.get_by_role("link", name="Sessions").click()
    page.get_by_role("link", name="Forget these of Last week").click()
    page.get_by_role("button", name="Forget all 5").click()
    expect(page.get_by_role("status").first).to_contain_text("forgot 5 sessions")
    assert not sessions.list_sessions(week)
    assert not visit.complaints
