"""Times that questions name."""

from datetime import datetime

import pytest

from memfs.search import query_dates

NOW = datetime(2026, 11, 23, 12).astimezone()  # a Monday


@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("what broke the day before yesterday", "2026-11-21", "2026-11-21"),
        ("what broke yesterday", "2026-11-22", "2026-11-22"),
        ("what did we decide last week", "2026-11-16", "2026-11-22"),
        ("decisions since friday", "2026-11-20", "2026-11-23"),
        ("decisions since 2026-10-01", "2026-10-01", "2026-11-23"),
        ("decisions after 2026-10-01", "2026-10-02", "2026-11-23"),
        ("decisions before October 3", "1970-01-02", "2026-10-02"),
        ("decisions until 2026-10-03", "1970-01-02", "2026-10-03"),
        ("decisions on 3 May", "2026-05-03", "2026-05-03"),
    ],
)
def test_the_period_of_a_question(question: str, since: str, until: str) -> None:
    found = query_dates.read(question, NOW)
    assert found
    days = [datetime.fromtimestamp(each).astimezone() for each in found[:2]]
    assert [f"{day:%Y-%m-%d}" for day in days] == [since, until]


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("what did we decide last week", "what did we decide"),
        ("what broke 3 days ago in prod", "what broke in prod"),
        ("what did we decide on 3 May", "what did we decide on 3 May"),
    ],
)
def test_what_is_seen_from_today_is_nothing_to_look_for(question: str, rest: str) -> None:
    found = query_dates.read(question, NOW)
    assert found
    assert " ".join(found.rest.split()) == rest
