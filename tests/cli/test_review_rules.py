"""`memfs review`: what was stated in past sessions is taken into a block, or dropped, by a key."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from memfs.core.records import Identity, Message, Transcript
from memfs.ops import brief, show
from memfs.recall import index_sources
from memfs.store import recall, standing_rules
from memfs.store.blocks import Place
from memfs.store.standing_rules import StandingRule
from tests.cli.conftest import Run
from tests.terminal import type_into

RULE = "never commit fixtures with real names in them"
MINE = "i always want the short answer first"


@pytest.fixture(autouse=True)
def said(place: Place) -> None:
    messages = [
        Message(f"old-{n}", "old", "claude", "/p", "main", f"2026-04-01T09:00:0{n}Z", "user", text)
        for n, text in enumerate((RULE, MINE))
    ]
    log = recall.RecallLog(place.home, "claude", Identity("old", ""))
    log.replace(None, "/old.jsonl", Transcript(messages, 0, 0, 0), "")
    index_sources.sync(place, embed=False)


def pending(memfs: Run) -> dict[str, tuple[str, str]]:
    found = json.loads(memfs("review", "list", "--json").out)["standing"]
    return {each["text"]: (each["id"], each["label"]) for each in found}


def test_a_start_tells_of_them_once(place: Place) -> None:
    told = "memfs: 2 rules that you stated are in no block yet: memfs review"
    assert brief.start(place).notice == told
    assert brief.start(place).notice == ""


def test_they_are_listed_with_the_commands_that_decide(memfs: Run) -> None:
    done = memfs("review")
    ident, label = pending(memfs)[RULE]
    assert label == "system_rules"
    assert f"{ident}  2026-04-01  your rule, not in a block yet (for system_rules):\n" in done.out
    assert f"    {RULE}\n" in done.out
    assert "memfs review accept ID writes one into its block" in done.err


def test_what_may_be_a_rule_is_listed_behind_those_that_are_certain(
    place: Place, memfs: Run
) -> None:
    likely = StandingRule("2026-04-02", "claude", "s", "m", "kebab-case for all", certain=False)
    standing_rules.write(place.home, [likely, *standing_rules.read(place.home)])
    assert [*pending(memfs)][-1] == likely.text
    done = memfs("review")
    assert (
        f"{likely.id}  2026-04-02  perhaps a rule, not in a block yet (for system_rules):"
        in done.out
    )


def test_one_is_taken_in_the_users_own_words(place: Place, memfs: Run) -> None:
    ident, label = pending(memfs)[MINE]
    assert label == "human"
    assert memfs("review", "accept", ident[:6]).code == 0
    assert f"- {MINE}\n" in show.run(place, "human").block.raw
    assert [*pending(memfs)] == [RULE]
    assert MINE not in brief.start(place).context.partition("# Stated")[2]


def test_one_that_is_dropped_does_not_come_back(place: Place, memfs: Run) -> None:
    assert memfs("review", "reject", pending(memfs)[RULE][0]).code == 0
    index_sources.sync(place, embed=False)
    assert [*pending(memfs)] == [MINE]
    assert RULE not in brief.start(place).context


def test_what_nothing_is_called_is_refused(memfs: Run) -> None:
    done = memfs("review", "accept", "zzz")
    assert done.code == 1
    assert "there is no such proposal" in done.err


def test_at_a_terminal_a_key_decides(place: Place, repo: Path, memfs: Run) -> None:
    code, shown = type_into([sys.executable, "-m", "memfs", "review"], "", repo, keys=("]? ", "yn"))
    assert code == 0, shown
    assert pending(memfs) == {}
    raws = [show.run(place, label).block.raw for label in ("human", "system_rules")]
    assert sum(f"- {text}" in raw for raw in raws for text in (RULE, MINE)) == 1
