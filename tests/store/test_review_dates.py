"""Dates after which a text is to be looked at again: read leniently, shown, and nothing more."""

import json
from pathlib import Path

import pytest

from memfs.core.records import Fact
from memfs.store import facts, review_dates
from memfs.store.blocks import Place
from tests.cli.conftest import Run
from tests.cli.conftest import memfs as memfs  # noqa: PLC0414 - a fixture


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2026-05-01", "2026-05-01"),
        (" 2026-05-01 ", "2026-05-01"),
        ("2026-05-01T23:30:00+02:00", "2026-05-01"),
        ("2026-05-01 10:00", "2026-05-01"),
        (20260501, "2026-05-01"),
        ("2026-02-30", ""),
        ("next May", ""),
        (True, ""),
    ],
)
def test_dates_and_times_are_read(value: object, day: str) -> None:
    ((key, _, found),) = review_dates.read_dates({"review_after": value, "expires_at": None})
    assert (key, found) == ("review_after", day)


def test_it_is_due_from_the_day_after(home: Path) -> None:
    days = ("2026-05-02", "2026-05-03", "2026-05-04")  # today is the second of them
    assert [bool([*review_dates.find_due({"expires_at": day})]) for day in days] == [
        True,
        False,
        False,
    ]


@pytest.fixture
def dated(place: Place, repo: Path, home: Path) -> Place:
    """A place with a date, past or none, in each kind of text."""
    assert place.project
    for path, key in (
        (repo / ".agent-memory/blocks/system_rules.md", "review_after: 2026-05-02"),
        (home / ".agent-memory/blocks/human.md", "expires_at: 2026-05-01T10:00:00Z"),
        (repo / ".agent-memory/blocks/persona.md", "review_after: 2027-01-01"),
    ):
        path.write_text(path.read_text().replace("---\n", f"---\n{key}\n", 1))
    for name, key in (("archive/2026-05/a1.md", "review_after: May"), ("static/k.md", "tags: []")):
        path = repo / ".agent-memory" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\n{key}\n---\nThe gateway gives up after review_after.\n")
    for number, day in enumerate(("2026-04-01", "2026-06-01")):
        fact = Fact(f"f{number}", f"it is {number}", 0.9, "rule", at=day, expires_at=day)
        facts.write_facts(place.project, [fact])
    return place


def test_what_is_past_its_date_is_listed_the_oldest_first(dated: Place) -> None:
    assert [each.describe() for each in review_dates.list_due(dated)] == [
        "passage a1 (review_after May)",
        "fact f0 (expires_at 2026-04-01)",
        "block human (expires_at 2026-05-01)",
        "block system_rules (review_after 2026-05-02)",
    ]


def test_commands_show_it_and_nothing_is_hidden(dated: Place, memfs: Run) -> None:
    assert "4 past dates" in memfs("status").out
    assert "passage a1: not a date" in memfs("review").out
    assert memfs("show", "system_rules").err == "! review after 2026-05-02 (in the past)\n"
    assert memfs("show", "persona").err == "! review after 2027-01-01\n"
    assert json.loads(memfs("show", "human", "--json").out)["expires_at"] == "2026-05-01T10:00:00Z"
    shown = memfs("archive", "show", "a1")
    assert shown.err.rstrip().endswith("review after May (not a date)")
    assert "gives up" in shown.out
    assert "expires at 2026-04-01 (in the past)" in memfs("facts").out
    assert "review_after is 'May', which is ignored" in memfs("doctor").out
    found = memfs("check")
    assert found.out.splitlines() == [
        ".agent-memory/blocks/system_rules.md:2 due date: review_after: 2026-05-02",
        ".agent-memory/archive/2026-05/a1.md:2 unreadable date: review_after: May",
        "  not a date; write dates as 2026-12-31",
        ".agent-memory/facts/2026-04.jsonl f0 due date: expires_at: 2026-04-01",
    ]
