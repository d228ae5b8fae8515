"""What was found in real sessions of coding assistants, each fact read in its source and labelled.

A fact counts as right only if it stands for itself, was true to the end of its session, says what
no other one says, and is of use later; a plan, a guess or a truism is wrong.
"""

import json
from pathlib import Path

import pytest

from memfs.core.records import Fact, Message
from memfs.knowledge.facts import prose

LABELLED = Path(__file__).with_name("labelled.jsonl")
ROWS = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]
ASKED = {"statement", "session", "message", "quote", "category", "right"}
SAID = tuple(row for row in ROWS if row["quote"].rstrip(".") == row["statement"])


def said(text: str, role: str) -> list[Fact]:
    return prose.facts(Message("m", "s", "claude", "", "", "", role, text))


@pytest.mark.parametrize("row", SAID, ids=lambda row: row["statement"][:40])
def test_a_sentence_that_is_quoted_whole_is_found_again(row: dict[str, str]) -> None:
    found = [each for role in ("assistant", "user") for each in said(row["quote"], role)]
    assert (row["statement"], row["category"]) in {(f.statement, f.category) for f in found}
