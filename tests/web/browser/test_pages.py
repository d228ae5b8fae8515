"""Every page in a real browser: nothing is wrong with it for anybody."""

import pytest

from tests.web.browser.conftest import Visitor

PAGES = (
    "home", "attention", "attention?selected=all", "blocks", "blocks/new", "blocks/persona", "blocks/persona/edit", "blocks/persona/history",
    "blocks/persona/blame", "brief", "prompts", "search", "search?q=gateway+lock", "sessions",
    "sessions/claude/s-1", "sessions/claude/s-1?find=lock", "sessions/claude/s-1/flow", "timeline", "archive", "sources",
    "sessions?selected=all&q=gateway", "sessions/forget?q=gateway", "facts", "facts?selected=all",
    "go", "go?q=s", "health", "health/trust", "health/secrets", "health/imports",
)  # fmt: skip


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_has_a_finding_of_axe_or_a_complaint(
    visitor: Visitor, theme: str, width: int
) -> None:
    visit = visitor.open(theme=theme, width=width)
    found = {}
    for path in PAGES:
        visit.go(path)
        if violations := visit.find_violations():
            found[path] = violations
    assert not found
    assert not visit.complaints


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_no_page_scrolls_sideways(visitor: Visitor, width: int) -> None:
    visit = visitor.open(width=width)
    wide = []
    for path in PAGES:
        visit.go(path)
        if visit.is_too_wide():
            wide.append(path)
    assert not wide


def test_on_a_phone_the_current_section_is_seen_and_hits_come_before_facets(
    visitor: Visitor,
) -> None:
    visit = visitor.open(width=400)
    for path in PAGES:
        current = visit.go(path).locator("nav a[aria-current=page]").bounding_box()
        assert current, path
        assert current["x"] >= 0, path
        assert current["x"] + current["width"] <= 400, path
    page = visit.go("search?q=gateway+lock")
    hits, facets = (page.locator(f".columns > {tag}").bounding_box() for tag in ("ol", "aside"))
    assert hits
    assert facets
    assert hits["y"] < facets["y"]


def test_text_of_twice_the_size_fits(visitor: Visitor) -> None:
    visit = visitor.open(width=1024)
    wide = []
    for path in PAGES:
        visit.go(path)
        visit.page.evaluate("document.documentElement.style.setProperty('font-size', '200%')")
        if visit.is_too_wide():
            wide.append(path)
    assert not wide


def test_every_page_is_whole_without_scripts(visitor: Visitor) -> None:
    visitor.open()
    visit = visitor.open(scripts=False)
    for path in PAGES:
        page = visit.go(path)
        assert page.locator("main h1").count() == 1, path
        assert page.locator("nav a[aria-current=page]").count() == 1, path
    assert not visit.complaints
