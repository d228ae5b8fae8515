"""What happened in a memory over time."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memfs.core.body_edits import Append
from memfs.core.records import Message
from memfs.ops import edit, timeline
from memfs.recall.open_store import OpenStore
from memfs.store import prompt_log, recall, sessions
from memfs.store.blocks import Place
from memfs.store.prompt_log import PromptRecord
from tests.ops.imports import BY


def test_days_have_their_messages_and_edits(place: Place) -> None:
    said = [
        Message(f"m{n}", "s", "claude", "", "", f"2026-05-0{1 + n // 2}T23:59:00Z", "user", "Hi.")
        for n in range(3)
    ]
    recall.write_session(recall.get_path(place.home, "claude", "s"), said)
    edit.run(place, [Append("persona", "More.")], BY)
    found = timeline.run(OpenStore(place), days=3)
    assert [(each.day, each.messages, each.edits > 0) for each in found.days] == [
        ("2026-05-01", 2, False),
        ("2026-05-02", 1, False),
        ("2026-05-03", 0, True),
    ]
    ((day, size),) = found.growth
    assert day == "2026-05-03"
    assert size > 0


def test_costs_are_told_by_session(place: Place) -> None:
    for session, text in (("a", "four words of text"), ("b", ""), ("b", "two words")):
        record = PromptRecord(1e9, "claude", session, 0.5, 0.4, "", text)
        prompt_log.note_prompt(place.home, record)
    found = timeline.run(OpenStore(place)).costs
    assert [(each.session, each.prompts) for each in found] == [("b", 2), ("a", 1)]
    assert found[1].tokens > found[0].tokens > 0


def test_costs_are_told_by_day_until_today(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMFS_NOW", "2026-05-04T12:00:00Z")
    for day, text in ((1, "four words of text"), (1, "two words"), (3, "")):
        at = datetime(2026, 5, day, 12, tzinfo=UTC).timestamp()
        prompt_log.note_prompt(place.home, PromptRecord(at, "claude", "s", 0.5, 0.4, "", text))
    found = timeline.measure_day_costs(place)
    assert [(each.day, each.prompts, each.tokens > 0) for each in found] == [
        ("2026-05-01", 2, True),
        ("2026-05-02", 0, False),
        ("2026-05-03", 1, False),
        ("2026-05-04", 0, False),
    ]


def test_hooks_have_their_times(place: Place) -> None:
    Path(place.home.local).mkdir(exist_ok=True)
    for milliseconds in range(1, 21):
        sessions.note_run(place.home.local, "claude", "prompt", milliseconds)
    runs = sessions.list_runs(place.home, "claude")
    assert runs[-1][2] == 20.0
    (found,) = timeline.run(OpenStore(place)).hooks
    assert found.host == "claude"
    assert found.median <= found.p95 <= 20.0


def test_an_empty_memory_has_empty_days(place: Place) -> None:
    found = timeline.run(OpenStore(place), days=5)
    assert [each.messages for each in found.days] == [0] * 5
    assert (found.costs, found.day_costs, found.hooks, found.failures) == ((), (), (), 0)
