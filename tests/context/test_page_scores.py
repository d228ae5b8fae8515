"""Which parts of a block leave first, and what becomes of them."""

from pathlib import Path
from typing import TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from memfs.context import page_scores
from memfs.context.page_scores import Fate

CASES = Path(__file__).parent / "paging" / "cases.yaml"


class Case(TypedDict):
    task: str
    keep: list[str]
    off: list[str]


def cases() -> list[Case]:
    found: list[Case] = YAML(typ="safe").load(CASES.read_text(encoding="utf-8"))
    return found


def test_off_topic_parts_are_picked_and_are_below_the_usual_floor() -> None:
    picked, low = 0, {"keep": 0, "off": 0}
    for case in cases():
        texts = [*case["keep"], *case["off"]]
        near = page_scores.relevances(case["task"], texts)
        lowest = sorted(texts, key=lambda text: near[texts.index(text)])[: len(case["off"])]
        picked += set(lowest) == set(case["off"])
        low["keep"] += sum(each < 0.3 for each in near[: len(case["keep"])])
        low["off"] += sum(each < 0.3 for each in near[len(case["keep"]) :])
    assert len(cases()) == 20
    assert picked >= 18
    assert low["off"] >= 36  # of 40
    assert low["keep"] <= 6  # of 60


BODY = """\
# Rules
- Never deploy on Fridays.
- The API is versioned
  by header, not by path.
    - deeper

Name: Alice
Works at: Acme
The importer reads the whole file into memory, which fails with files
above 200 MB; it is to be rewritten.

```sh
make test
```
1. first
"""


def test_a_block_has_parts() -> None:
    assert [part.text for part in page_scores.split_parts(BODY)] == [
        "- Never deploy on Fridays.\n",
        "- The API is versioned\n  by header, not by path.\n    - deeper\n",
        "Name: Alice\n",
        "Works at: Acme\n",
        (
            "The importer reads the whole file into memory, which fails with files\n"
            "above 200 MB; it is to be rewritten.\n"
        ),
        "1. first\n",
    ]


@given(st.text(alphabet="ab#-: \r\n`\t1.\u2028é", max_size=80))
def test_parts_are_pieces_of_the_body(body: str) -> None:
    at = 0
    for part in page_scores.split_parts(body):
        assert body[part.start : part.end] == part.text
        assert at <= part.start < part.end
        at = part.end


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Always run the linter.", "archive"),
        ("Currently looking at the parser.", "discard"),
        ("The parser is in src/parse.py.", "archive"),
        ("The parser reads one token after the other. " * 80, "summarise"),
    ],
)
def test_what_becomes_of_a_part_depends_on_its_kind(text: str, expected: Fate) -> None:
    assert page_scores.get_fate(text, important=7, lengthy=500) == expected


def found(
    body: str, task: str = "", recent: tuple[str, ...] = ()
) -> list[page_scores.PageCandidate]:
    ages = [0.0] * len(page_scores.split_parts(body))
    return page_scores.candidates(body, task, recent, ages, important=7, lengthy=500)


def test_what_people_came_back_to_is_worth_more() -> None:
    body = "The retry waits for two seconds.\nThe queue holds ten messages.\n"
    [first, second] = found(body, recent=("how many messages does the queue hold?",))
    assert first.part.text.startswith("The retry")
    assert first.worth < second.worth


def test_what_is_older_is_worth_less() -> None:
    [one, other] = page_scores.candidates(
        "The port is 8080.\nThe host is db1.\n", "", (), [0.0, 90.0], important=7, lengthy=500
    )
    assert one.part.text == "The host is db1.\n"
    assert one.worth < other.worth


def test_rules_stay_where_no_room_is_needed() -> None:
    body = "Never deploy on Fridays.\nThe logo is green.\n"
    scored = found(body, "Parse bank statements")
    off = [each.part.text for each in page_scores.choose_parts(scored, 0.3, 0, 7)]
    assert off == ["The logo is green.\n"]
    both = page_scores.choose_parts(scored, 0.3, len(body), 7)
    assert [each.part.text for each in both] == [
        "The logo is green.\n",
        "Never deploy on Fridays.\n",
    ]
    assert len(page_scores.choose_parts(scored, 0.3, 5, 7)) == 1
