"""What was found in real sessions of coding assistants, each fact read in its source and labelled.

A fact counts as right only if it stands for itself, was true to the end of its session, says what
no other one says, and is of use later; a plan, a guess or a truism is wrong.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from memfs.core.records import Fact, Message
from memfs.knowledge.facts import prose
from memfs.knowledge.facts.prose import CATEGORIES

LABELLED = Path(__file__).with_name("labelled.jsonl")
ROWS = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]
ASKED = {"statement", "session", "message", "quote", "category", "right"}
SAID = tuple(row for row in ROWS if row["quote"].rstrip(".") == row["statement"])


def test_there_are_enough_and_enough_of_them_are_right() -> None:
    assert len(ROWS) >= 45
    assert sum(row["right"] for row in ROWS) / len(ROWS) >= 0.7


def test_each_is_labelled_once_and_names_its_source() -> None:
    assert [row for row in ROWS if not all(str(row.get(key, "")) for key in ASKED)] == []
    assert [row for row in ROWS if set(row) - ASKED - {"why"}] == []
    assert [row for row in ROWS if row["right"] is not True and not row.get("why")] == []
    assert {row["category"] for row in ROWS} <= set(CATEGORIES)
    assert Counter(row["statement"].casefold() for row in ROWS).most_common(1)[0][1] == 1


def test_what_is_quoted_is_short_and_tells_of_nobodys_home() -> None:
    assert [row for row in ROWS if not 0 < len(row["quote"].split()) <= 12] == []
    told = [f"{row['statement']} {row['quote']}" for row in ROWS]
    assert [
        each for each in told if "/Users/" in each or "/home/" in each or "@example" in each
    ] == []


def said(text: str, role: str) -> list[Fact]:
    return prose.facts(Message("m", "s", "claude", "", "", "", role, text))


@pytest.mark.parametrize("row", SAID, ids=lambda row: row["statement"][:40])
def test_a_sentence_that_is_quoted_whole_is_found_again(row: dict[str, str]) -> None:
    found = [each for role in ("assistant", "user") for each in said(row["quote"], role)]
    assert (row["statement"], row["category"]) in {(f.statement, f.category) for f in found}


def test_some_were_quoted_whole() -> None:
    assert len(SAID) >= 5
