"""Windows and outcomes: lines that are only added, whoever reads and whoever is killed."""

import json
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.records import Fact, JournalEntry, Message, Passage
from memfs.files.logs import JsonLog
from memfs.ingest import commit_log
from memfs.ingest.commit_log import LoggedCommit
from memfs.store import chunk_log, facts, journal, recall, session_outcomes
from memfs.store.blocks import Place
from memfs.store.chunk_log import ChunkLog, ChunkWindow
from memfs.store.session_outcomes import SessionOutcome

WINDOW = ChunkWindow(Passage("0" * 20, "x", "now", 5, ("t",), "s"), {"bytes": 1}, 1)
FACT = Fact("i", "x", 0.5, "c", ("e",), (("a", "b", "c"),), "k", ("o",), "h", "s", "m", "at")
ENTRY = JournalEntry(
    *("i", "at", "a", "h", "s", "user", "l", "op", "r"),
    *(1, "before", "after", "t", ("g", 1), ("p",), "c", "d"),
)
MESSAGE = Message("i", "s", "h", "p", "b", "at", "r", "x", "t", "w", True, "neutral")
RECORDS: dict[str, tuple[JsonLog[Any], object]] = {  # every field of a line is there
    "windows": (chunk_log._LOG, WINDOW),
    "facts": (facts._LOG, replace(FACT.revise("superseded", "i2"), personal=True, extractor="r")),
    "journal": (journal._make_log(["user"]), ENTRY),
    "recall": (recall._LOG, MESSAGE),
    "outcomes": (session_outcomes._LOG, SessionOutcome("s", True, "w", 1, "at", True)),
    "commits": (commit_log._LOG, LoggedCommit("i", "at", "a", "x")),
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda some: st.lists(some, max_size=3) | st.dictionaries(st.text(), some, max_size=3),
    max_leaves=6,
)


def is_alike(value: object, right: object) -> bool:
    if isinstance(value, list) and isinstance(right, list):
        return all(any(is_alike(each, other) for other in right) for each in value)
    return type(value) is type(right) or (isinstance(right, float) and type(value) is int)


def passage(text: str) -> Passage:
    return Passage("", text, "2026-05-03T10:00:00Z", 5, ("t",), "s")


def add(log: ChunkLog, *texts: str) -> list[str]:
    return log.add([passage(text) for text in texts], [{} for _ in texts])


def test_ids_go_up_and_the_oldest_leave(place: Place) -> None:
    log = ChunkLog(place.home, "k")
    ids = add(log, *(f"text {n}" for n in range(9)))
    assert ids == sorted(set(ids))
    log.evict_oldest(4)
    log.note()
    assert list(log.get_live()) == ids[4:]
    again = ChunkLog(place.home, "k")
    assert list(again.get_live()) == ids[4:]
    assert again.first() == ids[4]
    assert again.find(ids[0]) == ChunkWindow(again.find(ids[0]).passage, {})  # type: ignore[union-attr]
    assert [w.passage.text for w in again.read()] == [f"text {n}" for n in range(9)]


@pytest.mark.parametrize("kind", RECORDS)
@given(data=st.data())
def test_a_line_with_values_of_wrong_types_is_left_out(kind: str, data: st.DataObject) -> None:
    log, record = RECORDS[kind]
    line = log.encode(record)
    assert log._parse(line) == record
    right = json.loads(line)
    name = data.draw(st.sampled_from(sorted(right)))
    empty = kind == "journal" and name in ("before", "after", "group")
    wrong = JSON.filter(
        lambda value: not is_alike(value, right[name]) and not (empty and value is None)
    )
    found = data.draw(st.one_of(wrong.map(lambda value: right | {name: value}), JSON))
    assert log._parse(json.dumps(found).encode() + b"\n") is None


@pytest.mark.parametrize(
    "ident", ["zz", "", "0" * 19, "0" * 21, "F" * 20, "\N{ARABIC-INDIC DIGIT ONE}" * 20]
)
def test_a_window_with_an_id_of_another_form_stops_no_other(place: Place, ident: str) -> None:
    first = add(ChunkLog(place.home, "k"), "a")
    [path] = chunk_log.list_segments(place.home)
    wrong = json.dumps({"id": ident, "text": "b", "created_at": "now"})
    Path(path).write_text(f"{Path(path).read_text()}{wrong}\n")
    log = ChunkLog(place.home, "k")
    second = add(log, "c")
    assert list(log.get_live()) == list(ChunkLog(place.home, "k").get_live()) == first + second


def test_others_are_noticed(place: Place) -> None:
    one, other = ChunkLog(place.home, "k"), ChunkLog(place.home, "k")
    first = add(one, "a")
    assert list(other.get_live()) == first
    second = add(other, "b")
    assert list(one.get_live()) == first + second
    other.evict_oldest(1)
    other.note()
    assert list(one.get_live()) == second
    assert one.bytes == other.bytes


def test_a_reader_cuts_nothing_off(place: Place) -> None:
    """A line that is just being written looks torn to whoever reads meanwhile."""
    log = ChunkLog(place.home, "k")
    add(log, "a")
    [path] = chunk_log.list_segments(place.home)
    with open(path, "ab") as handle:
        handle.write(b'{"id": "half of')
    size = os.path.getsize(path)
    assert len(ChunkLog(place.home, "k").get_live()) == 1
    assert os.path.getsize(path) == size
    add(log, "b")
    assert [w.passage.text for w in chunk_log.read(path)] == ["a", "b"]


def test_who_read_half_of_a_line_reads_all_of_it_later(place: Place) -> None:
    log, other = ChunkLog(place.home, "k"), ChunkLog(place.home, "k")
    add(log, "a")
    assert len(other.get_live()) == 1
    [path] = chunk_log.list_segments(place.home)
    whole = Path(path).read_bytes()
    [ident] = add(log, "b")
    line = Path(path).read_bytes()[len(whole) :]
    Path(path).write_bytes(whole + line[:20])
    assert len(other.get_live()) == 1
    with open(path, "ab") as handle:
        handle.write(line[20:])
    assert list(other.get_live())[1:] == [ident]


def test_readers_and_writers_at_once_lose_nothing(place: Place) -> None:
    ended = threading.Event()

    def read() -> None:
        log = ChunkLog(place.home, "k")
        while not ended.is_set():
            log.get_live()

    reader = threading.Thread(target=read)
    reader.start()
    code = (
        "import sys; from memfs.core.records import Passage; from memfs.store import chunk_log, lock;"
        "from memfs.store.store_paths import Store; store = Store(sys.argv[1], 'project')\n"
        "log = chunk_log.ChunkLog(store, 'k')\n"
        "for n in range(10):\n"
        "    with lock.hold_lock(store, name=lock.KINDS):\n"
        "        log.add([Passage('', 'x' * 4000, 'now')] * 50, [{}] * 50)\n"
    )
    try:
        writers = [
            subprocess.Popen([sys.executable, "-c", code, place.home.root]) for _ in range(2)
        ]
        assert [each.wait(60) for each in writers] == [0, 0]
    finally:
        ended.set()
        reader.join()
    assert len(ChunkLog(place.home, "k").get_live()) == 1000


def test_a_change_in_the_middle_shows_in_the_first_bytes(place: Place) -> None:
    log = ChunkLog(place.home, "k")
    ids = add(log, *(f"the port is {4000 + n}, {'x' * 300}" for n in range(60)))
    [path] = chunk_log.list_segments(place.home)
    before = Path(path).read_bytes()
    window = log.find(ids[30])
    assert window
    changed = ChunkWindow(passage(window.passage.text.replace("4030", "9999")), {})
    assert log.update(ids[30], changed)
    after = Path(path).read_bytes()
    assert before[:4096] != after[:4096]
    assert [w.passage.id for w in log.read()] == ids
    found = log.find(ids[30])
    assert found
    assert "9999" in found.passage.text
    assert log.update(ids[0], None)
    assert not log.update("nothing", None)
    assert [w.passage.id for w in log.read()] == ids[1:]


@pytest.mark.parametrize("why", ["a\u2028b", "two\nlines", "ends", "", "x" * 5000])
def test_outcomes_are_kept(place: Place, why: str) -> None:
    session_outcomes.write_outcome(place.home, SessionOutcome("one", worked=True))
    path = Path(place.home.local, session_outcomes.FILE)
    path.write_text(path.read_text() + '{"session": "torn')
    kept = session_outcomes.write_outcome(place.home, SessionOutcome("two", worked=False, why=why))
    assert [each.session for each in session_outcomes.list_outcomes(place.home)] == ["one", "two"]
    assert session_outcomes.list_outcomes(place.home)[1] == kept
    assert len(kept.why) <= 300


def test_a_reason_holds_no_secret(place: Place) -> None:
    key = "ghp_" + "x7Kq2mPz9LwR4tVb8NcY3sHd6JfG1aQeU5oZ"
    session_outcomes.write_outcome(
        place.home, SessionOutcome("s", worked=True, why=f"{key} <private>ill</private> works")
    )
    text = Path(place.home.local, session_outcomes.FILE).read_text()
    assert key not in text
    assert "ill" not in text
    assert "works" in text
