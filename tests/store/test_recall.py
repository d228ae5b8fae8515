"""Recall files: what is appended, replaced, cut off, and read back."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.records import Identity, Message, Transcript
from memfs.store import message_records, recall, spool, store_paths
from memfs.store.blocks import Place
from memfs.store.message_records import ReadState
from memfs.store.recall import RecallLog
from memfs.store.store_paths import Store
from tests.examples import examples

MARK = "0" * 32


@pytest.fixture
def store(tmp_path: Path) -> Store:
    root = tmp_path / "x/.agent-memory"
    (root / "local").mkdir(parents=True)
    return Store(str(root), "project")


@pytest.fixture
def log(store: Store) -> RecallLog:
    return RecallLog(store, "claude", Identity("s1", ""))


def message(ident: str, text: str = "text") -> Message:
    return Message(ident, "s1", "claude", "/w", "main", "2026-05-03T10:00:00Z", "user", text)


def reading(*idents: str, end: int = 100, malformed: int = 0) -> Transcript:
    return Transcript([message(ident) for ident in idents], end, malformed, 0)


def kept(log: RecallLog) -> list[str]:
    return [found.id for found in recall.messages(log.path)]


def extend(log: RecallLog, state: ReadState, path: str, read: Transcript, mark: str) -> int:
    untold, places, _ = log.extend(state, path, recall.encode_rows(read), mark)
    recall.flush([(log, state)])
    return untold + len(places)


def holds(log: RecallLog, read: Transcript) -> bool:
    known = log.load_ids()
    return all(message.id in known for message in read.messages)


def test_a_session_is_replaced_then_extended(log: RecallLog) -> None:
    assert log.load_state() is None
    assert log.replace(None, "/t", reading("a", "b", malformed=1), MARK) == 2
    state = log.load_state()
    assert state
    assert extend(log, state, "/t2", reading("b", "c", end=200, malformed=2), "1" * 32) == 1
    assert kept(log) == ["a", "b", "c"]
    state = log.load_state()
    assert state
    assert vars(state) == {
        "path": "/t2",
        "offset": 200,
        "print": "1" * 32,
        "kept": os.path.getsize(log.path),
        "malformed": 3,
        "versions": [],
    }


def test_what_a_rewritten_transcript_lost_is_kept(log: RecallLog) -> None:
    log.replace(None, "/t", reading("a", "b", "c"), MARK)
    assert log.replace(log.load_state(), "/t", reading("a", "d", end=50), "2" * 32) == 1
    assert kept(log) == ["a", "d", "b", "c"]
    state = log.load_state()
    assert state
    assert state.versions == [(100, MARK)]


def test_a_lost_state_loses_no_message(log: RecallLog) -> None:
    """The state is not fsynced: after a power cut it may be empty while the messages are there."""
    log.replace(None, "/t", reading("a", "b"), MARK)
    Path(log._state_path).write_bytes(b"")
    assert log.load_state() is None
    assert log.replace(log.load_state(), "/t", reading("b", "c"), MARK) == 1
    assert kept(log) == ["b", "c", "a"]


@pytest.mark.parametrize(
    "junk", [b"", b"[]", b"5", b"{}", b"\xff", b'{"versions": [[1]]}', b'{"x": 1, "versions": []}']
)
def test_a_damaged_state_is_none(log: RecallLog, junk: bytes) -> None:
    log.replace(None, "/t", reading("a"), MARK)
    Path(log._state_path).write_bytes(junk)
    assert log.load_state() is None


@pytest.mark.parametrize(
    "tail", [b'{"id": "x", "session"', b'{"id": "', b"\x00\x00", b'{"id": "y"}\n\xff']
)
def test_what_a_killed_run_appended_is_cut_off(log: RecallLog, tail: bytes) -> None:
    log.replace(None, "/t", reading("a"), MARK)
    state = log.load_state()
    assert state
    with open(log.path, "ab") as file:
        file.write(tail)
    assert kept(log) == ["a"]
    assert not holds(log, reading("b"))
    assert extend(log, state, "/t", reading("b"), MARK) == 1
    assert kept(log) == ["a", "b"]
    with open(log.path, "rb") as file:
        assert file.read().count(b"\n") == 2
    with open(log.path, "ab") as file:
        file.write(tail)
    assert log.replace(log.load_state(), "/t", reading("a", "b"), MARK) == 0
    assert kept(log) == ["a", "b"]


@given(st.lists(st.text(min_size=1, max_size=6), unique=True, max_size=5), st.text(max_size=6))
@examples(60)
def test_any_id_is_known_again(
    tmp_path_factory: pytest.TempPathFactory, idents: list[str], text: str
) -> None:
    folder = tmp_path_factory.mktemp("ids")
    log = RecallLog(Store(str(folder / ".agent-memory"), "project"), "claude", Identity("s", ""))
    found = Transcript([message(ident, text) for ident in idents], 1, 0, 0)
    assert log.replace(None, "/t", found, MARK) == len(idents)
    assert holds(log, found)
    assert log.replace(log.load_state(), "/t", found, MARK) == 0
    assert list(recall.messages(log.path)) == found.messages


@pytest.mark.parametrize("ident", ["a, b", '", "', "a\\", "ü"])
def test_an_id_with_our_own_punctuation_is_known_again(log: RecallLog, ident: str) -> None:
    log.replace(None, "/t", reading(ident), MARK)
    assert holds(log, reading(ident))
    assert not holds(log, reading(ident, "other"))


def test_reading_begins_at_any_line_and_leaves_an_unfinished_one(log: RecallLog) -> None:
    log.replace(None, "/t", reading("a", "b", "c"), MARK)
    data = Path(log.path).read_bytes()
    lines = data.splitlines(keepends=True)
    at = len(lines[0])
    assert [found.id for found in recall.messages(log.path, at)] == ["b", "c"]
    Path(log.path).write_bytes(data[:-1])
    assert kept(log) == ["a", "b"]
    Path(log.path).write_bytes(data)
    assert [found.id for found in recall.messages(log.path, len(data) - 1)] == ["c"], "left before"
    assert list(recall.messages(log.path, len(data))) == []
    assert [found.id for found in recall.messages(log.path, 5)] == ["a", "b", "c"]


def test_a_start_inside_a_very_long_line_finds_its_beginning(log: RecallLog) -> None:
    log.replace(None, "/t", Transcript([message("a"), message("b", "x" * 300_000)], 1, 0, 0), MARK)
    assert [found.id for found in recall.messages(log.path, 290_000)] == ["b"]


def test_the_last_message_is_found_from_the_end(log: RecallLog, store: Store) -> None:
    assert recall.get_path(store, "claude", "s1") == log.path
    assert recall.read_last(log.path) is None
    log.replace(None, "/t", reading("a", "b"), MARK)
    assert recall.read_last(log.path) == message("b")
    with open(log.path, "ab") as handle:
        handle.write(b'{"id": "torn')
    assert recall.read_last(log.path) is None


def test_damaged_lines_are_left_out(log: RecallLog) -> None:
    log.replace(None, "/t", reading("a"), MARK)
    with open(log.path, "ab") as file:
        file.write(b'\xff\n[]\n5\n{"id": "x"}\n{"odd": 1}\n\n')
        file.write(json.dumps(message("b")._asdict()).encode() + b"\n")
    assert kept(log) == ["a", "b"]


def test_side_chains_have_files_of_their_own_and_names_are_safe(store: Store) -> None:
    odd = RecallLog(store, "claude", Identity("../../etc/passwd", "../x"))
    assert os.path.dirname(odd.path) == f"{store.local}/recall/claude"
    plain, side = (
        RecallLog(store, "claude", Identity("s", "")),
        RecallLog(store, "claude", Identity("s", "a")),
    )
    for each in (odd, plain, side):
        each.replace(None, "/t", reading("a"), MARK)
        each.replace(each.load_state(), "/t", reading("b"), MARK)
    assert recall.sources(store) == sorted([odd.path, plain.path, side.path])
    assert plain.path.endswith("/s.jsonl")
    assert side.path.endswith("/s.agent-a.jsonl")
    assert os.stat(plain.path).st_mode & 0o777 == 0o600
    assert os.stat(odd.folder).st_mode & 0o777 == 0o700


def test_a_note_in_the_inbox_waits_until_it_is_done(place: Place) -> None:
    store = place.project
    assert store
    assert spool.list_notes(store) == []
    spool.write_note(store, "claude", '/t/"odd" \ud800é.jsonl', "s-1")
    ((note, host, path, session),) = spool.list_notes(store)
    assert (host, path, session) == ("claude", '/t/"odd" \ud800é.jsonl', "s-1")
    assert os.stat(note).st_mode & 0o777 == 0o600
    spool.remove_note(note)
    spool.remove_note(note)
    assert spool.list_notes(store) == []


@pytest.mark.parametrize(
    "junk", [b"", b"{", b"[]", b"{}", b'{"transcript": 5}', b"\xff", b"[" * 100_000]
)
def test_other_files_in_the_inbox_are_removed(place: Place, junk: bytes) -> None:
    assert place.project
    folder = Path(place.project.local) / "inbox"
    folder.mkdir()
    (folder / "1.json").write_bytes(junk)
    (folder / "2.json").mkdir()
    spool.write_note(place.project, "claude", "/t")
    assert [path for _, _, path, _ in spool.list_notes(place.project)] == ["/t"]
    assert not (folder / "1.json").exists()


def test_file_names_of_sessions_do_not_collide() -> None:
    names = ["a", "A.b-c_d", "", "..", "a/b", "-a", ".a", "x" * 200, "é", "\ud800"]
    made = [store_paths.file_name(name) for name in names if name]
    assert len(set(made)) == len(made)


def test_lines_are_read_as_json_reads_them(tmp_path: Path) -> None:
    """Also what the quick reader does not take: halves of characters, and names it does not know."""
    good = Message("1", "s", "h", "", "", "", "user", "a")._asdict()
    rows = [good, {**good, "text": "\ud800"}, {**good, "side": True, "tool": "t"}]
    bad = ["{", "[]", "5", json.dumps({**good, "more": 1}), json.dumps({"id": "1"})]
    path = tmp_path / "r.jsonl"
    lines = [*map(json.dumps, rows), *bad, json.dumps(good)]
    path.write_text("\n".join(lines) + '\n{"torn')
    found = list(recall.read_with_offsets(str(path)))
    assert [message for message, _ in found] == [Message(**row) for row in [*rows, good]]
    data = path.read_bytes()
    assert [data[:end].count(b"\n") for _, end in found] == [1, 2, 3, 9]
    assert list(recall.messages(str(path), found[0][1])) == [m for m, _ in found[1:]]


def test_a_fingerprint_knows_only_what_was_read(tmp_path: Path) -> None:
    def sign(data: bytes, size: int = 9000) -> str:
        (tmp_path / "t").write_bytes(data)
        return message_records.fingerprint(str(tmp_path / "t"), size)

    before = sign(b"a" * 10_000)
    assert sign(b"a" * 9000 + b"b" * 5000) == before
    assert sign(b"b" + b"a" * 9999) != before
    assert sign(b"a" * 8999 + b"b" * 1001) != before
    assert sign(b"a", 0) == sign(b"", 0)
