"""The ids of a large recall file: right whatever became of the file they stand in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memfs.core.records import Identity, Message, Transcript
from memfs.store import message_records, recall
from memfs.store.message_records import MessageIds, ReadState
from memfs.store.recall import RecallLog
from memfs.store.store_paths import Store


@pytest.fixture(autouse=True)
def always_worth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_records, "WORTH", 1)


@pytest.fixture
def log(tmp_path: Path) -> RecallLog:
    return RecallLog(
        Store(str(tmp_path / ".agent-memory"), "project"), "claude", Identity("s1", "")
    )


def extend(log: RecallLog, first: int, last: int) -> None:
    said = [Message(f"m{n}", "s1", "claude", "/w", "", "", "user", "x") for n in range(first, last)]
    state = log.load_state() or ReadState()
    log.extend(state, "/t", recall.encode_rows(Transcript(said, last, 0, 0)), "")
    recall.flush([(log, state)])


def again(log: RecallLog) -> RecallLog:
    """The log as another process opens it."""
    made = RecallLog.__new__(RecallLog)
    made.__dict__.update(log.__dict__, _known=None)
    return made


def held(log: RecallLog) -> list[str]:
    found = MessageIds(log.path)
    return [f"m{n}" for n in range(12) if f"m{n}" in found]


def names(last: int) -> list[str]:
    return [f"m{n}" for n in range(last)]


def test_ids_are_read_from_the_file_beside_and_only_the_rest_from_the_log(log: RecallLog) -> None:
    extend(log, 0, 3)
    extend(again(log), 2, 5)
    assert os.path.getsize(message_records.get_ids_path(log.path)) == 5 * 16
    data = Path(log.path).read_bytes()
    Path(log.path).write_bytes(data.replace(b"m1", b"??"))
    assert held(log) == names(5), "the log's beginning is not looked at"
    with open(log.path, "ab") as file:
        file.write(data.splitlines(keepends=True)[0].replace(b"m0", b"m7") + b'{"id": "m8", "se')
    assert held(log) == [*names(5), "m7"]


@pytest.mark.parametrize("damage", ["gone", "torn", "holes", "old", "beyond", "junk"])
def test_a_file_beside_that_does_not_fit_is_made_anew(log: RecallLog, damage: str) -> None:
    extend(log, 0, 3)
    beside = Path(message_records.get_ids_path(log.path))
    old = beside.read_bytes()
    extend(again(log), 3, 5)
    data = beside.read_bytes()
    made = {
        "torn": data[:-5],
        "holes": bytes(16) + data[16:],
        "old": old,
        "beyond": data + bytes(8) + b"\xff" * 7 + b"\x0f",
        "junk": b"junk" * 20,
    }
    beside.unlink()
    if damage in made:
        beside.write_bytes(made[damage])
    assert held(log) == names(5)
    extend(again(log), 4, 6)
    assert held(log) == names(6)
    assert beside.read_bytes()[: len(data)] == data
    assert [each.id for each in recall.messages(log.path)] == names(6)


def test_another_log_in_its_place_forgets_the_ids(log: RecallLog) -> None:
    extend(log, 0, 4)
    os.remove(log.path)
    assert held(log) == []
    extend(again(log), 0, 2)
    assert held(log) == names(2)
    recall.rewrite(log.path, lambda text: text.replace('"x"', '"a longer text"'))
    assert not os.path.exists(message_records.get_ids_path(log.path))
    extend(again(log), 1, 3)
    assert held(log) == names(3)
    log.replace(log.load_state(), "/t", Transcript([], 1, 0, 0), "")
    assert held(log) == names(3)
