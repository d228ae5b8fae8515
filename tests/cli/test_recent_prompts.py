"""`memfs last`: what the assistant was given at the last prompts, and why."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from memfs.core.records import Identity, Message, Transcript
from memfs.ops import brief, recent_prompts
from memfs.recall import index_sources
from memfs.store import prompt_log, recall
from memfs.store.blocks import Place
from memfs.store.prompt_log import PromptRecord
from tests.cli.conftest import Run

PROMPT = "how did we do backoff in the payments client?"


@pytest.fixture
def asked(place: Place) -> Callable[[str], str]:
    """A project in which backoff was spoken of, and what asks for a prompt in a later session."""
    say(place, "old", "2026-04-01T09:00:00Z", "the payments client needs exponential backoff")
    index_sources.sync(place, embed=False)
    later = Place(place.project, place.user, "later")
    brief.start(later)
    return lambda prompt: brief.prompt(later, prompt, host="claude").context


def say(place: Place, session: str, at: str, text: str) -> None:
    said = Message(f"{session}-0", session, "claude", "/p", "main", at, "user", text)
    log = recall.RecallLog(place.home, "claude", Identity(session, ""))
    log.replace(None, f"/{session}.jsonl", Transcript([said], 0, 0, 0), "")


def test_what_was_given_and_why(place: Place, asked: Callable[[str], str], memfs: Run) -> None:
    assert asked(PROMPT)
    say(place, "later", "2026-05-03T10:00:00Z", PROMPT)
    done = memfs("last")
    assert f"prompt: {PROMPT}\n" in done.out
    assert "  > user: the payments client needs exponential backoff\n" in done.out
    assert "because of 2026-04-01 session old: words: backoff, payments, client\n" in done.out


def test_where_nothing_was_given_the_nearest_is_named(
    asked: Callable[[str], str], memfs: Run
) -> None:
    assert asked("which colour has the backoff of the harbour lamps at night?") == ""
    done = memfs("last")
    assert "prompt: (its session is not in recall yet)\n" in done.out
    assert "given: nothing\n" in done.out


def test_the_newest_is_first_and_json_says_all(asked: Callable[[str], str], memfs: Run) -> None:
    asked("which colour has the backoff of the harbour lamps at night?")
    asked(PROMPT)
    found = json.loads(memfs("last", "2", "--json").out)
    assert [bool(each["text"]) for each in found] == [True, False]
    assert found[0]["about"] >= found[0]["floor"] > 0
    assert found[0]["why"] == ["2026-04-01 session old: words: backoff, payments, client"]


def test_before_the_first_prompt_there_is_nothing(place: Place, memfs: Run) -> None:
    done = memfs("last")
    assert (done.code, done.out) == (0, "")


def test_what_was_given_is_read_as_it_was_written(place: Place) -> None:
    text = "a\tb\\n\nc\\\\ \r d"
    prompt_log.note_prompt(
        place.home, PromptRecord(1.0, "claude", "s", 0.5, 0.7, "near\tby", "why", text)
    )
    [found] = recent_prompts.run(place, 5)
    assert (found.text, found.nearest) == (text, "near by")
    assert found.at == "1970-01-01T00:00:01Z"


def test_what_grows_large_loses_its_older_half(place: Place) -> None:
    for number in range(400):
        prompt_log.note_prompt(
            place.home, PromptRecord(number, "claude", "s", 0.5, 0.7, "", "", "x" * 1500)
        )
    found = prompt_log.read(place.home, 1000)
    assert found[0].at == 399
    assert 100 < len(found) < 400
