"""A real browser before the page: Chromium, driven by Playwright's Python package.

`MEMFS_CHROMIUM` names the program, `MEMFS_AXE` axe-core's script (see docs/contributing/testing.md).
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from memfs.core.body_edits import Append, Create
from memfs.core.records import Fact, Message
from memfs.ops import archive, edit
from memfs.store import clock, facts, prompt_log, recall, sessions
from memfs.store.blocks import Place
from memfs.store.prompt_log import PromptRecord
from memfs.web.access import Access
from memfs.web.server import PageServer
from tests.ops.imports import BY
from tests.web.conftest import serve

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = os.environ.get("MEMFS_CHROMIUM") or next(filter(None, map(shutil.which, _PROGRAMS)), "")
AXE = os.environ.get("MEMFS_AXE", ".ci/cache/hosts/node_modules/axe-core/axe.min.js")
ROOT = Path(__file__).parents[3]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test here: they need a browser."""
    for item in items:
        if "/web/browser/" in item.nodeid:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@dataclass
class Visit:
    """A window on the page, which notes what the browser complains of."""

    page: Page
    base: str
    access: Access
    complaints: list[str]

    def go(self, path: str) -> Page:
        """Open an address of the project."""
        self.page.goto(f"{self.base}/{path}")
        return self.page

    def find_violations(self) -> list[str]:
        """Return what axe-core finds in what is shown now."""
        self.page.evaluate((ROOT / AXE).read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run()")
        return [
            f"{each['id']} ({each['impact']}): {node['html'][:120]}"
            for each in found["violations"]
            for node in each["nodes"]
        ]

    def is_too_wide(self) -> bool:
        """Tell whether the page scrolls sideways."""
        shown = "document.documentElement"
        return bool(self.page.evaluate(f"{shown}.scrollWidth > {shown}.clientWidth"))


class Visitor:
    """Opens windows on one page that is served; all are the browser that was let in."""

    def __init__(self, browser: Browser, server: PageServer, folder: Path) -> None:
        self._browser, self._server, self._folder = browser, server, folder
        self._state: object = None
        self._contexts: list[BrowserContext] = []

    def open(
        self, *, theme: str = "light", width: int = 1440, scripts: bool = True, let_in: bool = True
    ) -> Visit:
        """Open a window of a width, in a theme, with or without JavaScript, and let in or not."""
        context = self._browser.new_context(
            color_scheme=theme,  # type: ignore[arg-type]
            viewport={"width": width, "height": 900},
            java_script_enabled=scripts,
            storage_state=self._state,  # type: ignore[arg-type]
        )
        self._contexts.append(context)
        page = context.new_page()
        complaints: list[str] = []
        page.on("console", lambda said: _note(complaints, said.type, said.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        if self._state is None and let_in:
            page.goto(Path(self._server.access.write_opener(str(self._folder))).as_uri())
            page.wait_for_url("**/home")
            self._state = context.storage_state()
        access = self._server.access
        base = f"http://{access.host}{access.root}/{self._server.projects[0].key}"
        return Visit(page, base, access, complaints)

    def close(self) -> None:
        """Close all windows."""
        for context in self._contexts:
            context.close()


def _note(complaints: list[str], kind: str, text: str) -> None:
    if kind in ("error", "warning"):
        complaints.append(text)


@pytest.fixture
def week(place: Place) -> Place:
    """A project after a first week: blocks, passages and sessions, some with difficult texts."""
    edit.run(place, [Create("api/retries", "How the client retries", "Wait Retry-After.")], BY)
    edit.run(place, [Append("persona", "Answers are short. 世界 مرحبا")], BY)
    for number in range(3):
        archive.run(
            place, f"Decision {number}: the gateway locks.", importance=5, tags=("ops",), origin=BY
        )
    for number in range(4):
        said = [
            Message(f"m{turn}", f"s-{number}", "claude", "", "main",
                    f"2026-04-{number + 1:02}T10:{turn:02}:00Z", "assistant" if turn % 2 else "user",
                    f"Turn {turn} of {number}: the gateway lock times out after 5 s. " + "x" * 90)
            for turn in range(30)
        ]  # fmt: skip
        recall.write_session(recall.get_path(place.home, "claude", f"s-{number}"), said)
    fact = Fact("f" * 16, "The gateway times out after 5 s", 0.9, "decision", ("gateway",),
                host="claude", session="gone", message="m0", at="2026-04-01T10:00:00Z")  # fmt: skip
    facts.write_facts(place.home, [fact])
    for number in range(9):
        at = clock.seconds() - number * 86400
        given = PromptRecord(at, "claude", f"s-{number % 4}", 0.5, 0.4, "", "word " * number)
        prompt_log.note_prompt(place.home, given)
    sessions.note_run(place.home.local, "claude", "prompt", 12.0)
    return place


@pytest.fixture
def visitor(
    week: Place, repo: Path, home: Path, browser: Browser, tmp_path: Path
) -> Iterator[Visitor]:
    """Who looks at the page of that project."""
    assert week.project
    with serve([repo], home) as server:
        found = Visitor(browser, server, tmp_path)
        yield found
        found.close()
