"""The recall files, for one who looks often: what changes is seen, and few are looked at for it."""

import os
import time
from pathlib import Path

import pytest

from memfs.core.records import Identity, Message, Transcript
from memfs.files.signatures import sign_file
from memfs.recall import recall_snapshot
from memfs.recall.open_store import OpenStore
from memfs.recall.recall_snapshot import RecallSnapshot
from memfs.store import message_records, recall
from memfs.store.blocks import Place
from memfs.store.store_paths import Store

COUNT = 50
OLD, LATEST = "s000", f"s{COUNT - 1:03}"


@pytest.fixture
def store(place: Place, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store with sessions that ended long ago, looked at whole once in an hour."""
    monkeypatch.setattr(recall_snapshot, "_AGAIN", 3600)
    for number in range(COUNT):
        recall.write_session(
            str(file(place.home, f"s{number:03}")), [message(f"s{number:03}", "hello")]
        )
    age(place.home)
    return place.home


def file(store: Store, session: str) -> Path:
    return Path(store.local) / "recall" / "bench" / f"{session}.jsonl"


def message(session: str, text: str, ident: str = "m1") -> Message:
    return Message(ident, session, "bench", "/w", "", "2026-01-01T10:00:00Z", "user", text)


def age(store: Store) -> None:
    """Let everything be an hour old, the first sessions the oldest."""
    top = Path(store.local) / "recall"
    for at, path in enumerate([*sorted(top.rglob("*.jsonl")), top / "bench", top]):
        then = time.time() - 3600 + at
        os.utime(path, (then, then))


def whole(store: Store) -> list[tuple[str, object]]:
    return [(path, sign_file(path)) for path in recall.sources(store)]


def add_in_place(path: Path) -> None:
    """Write to a file as neither memfs nor a careful editor does: its folder does not notice."""
    with path.open("ab") as handle:
        handle.write(b"{}\n")


def test_all_files_are_listed_with_what_they_look_like(store: Store) -> None:
    look = RecallSnapshot(store)
    assert look.list_files() == whole(store)
    assert len(look.list_files()) == COUNT
    assert look.list_files() is look.list_files(), "nothing is compared that did not change"


def test_a_store_without_sessions_gets_some(place: Place) -> None:
    look = RecallSnapshot(place.home)
    assert look.list_files() == []
    recall.write_session(str(file(place.home, "s")), [message("s", "hello")])
    assert look.list_files() == whole(place.home) != []


@pytest.mark.parametrize("change", ["new", "gone", "replaced", "renamed", "folder"])
def test_files_that_come_go_or_are_replaced_are_seen_at_once(store: Store, change: str) -> None:
    look = RecallSnapshot(store)
    before = look.list_files()
    old = file(store, OLD)
    if change == "new":
        add_in_place(file(store, "another"))
    elif change == "gone":
        old.unlink()
    elif change == "replaced":
        recall.rewrite(str(old), lambda text: text.replace("hello", "goodbye"))
    elif change == "renamed":
        old.rename(old.with_name("t.jsonl"))
    else:
        old.parent.rename(old.parent.with_name("other"))
    assert look.list_files() == whole(store) != before


def test_a_session_that_goes_on_is_seen_at_once(store: Store) -> None:
    look = RecallSnapshot(store)
    look.list_files()
    add_in_place(file(store, LATEST))
    assert look.list_files() == whole(store)


def test_what_memfs_itself_adds_to_an_old_session_is_seen_at_once(store: Store) -> None:
    look = RecallSnapshot(store)
    look.list_files()
    log = recall.RecallLog(store, "bench", Identity(OLD, ""))
    read = Transcript([message(OLD, "good to see you again", "m2")], 100, 0, 0)
    state = message_records.ReadState("/t.jsonl", 50, "", os.path.getsize(log.path))
    log.extend(state, "/t.jsonl", recall.encode_rows(read), "")
    recall.flush([(log, state)])
    assert look.list_files() == whole(store)


def test_an_old_file_that_something_writes_to_is_seen_when_all_are_looked_at(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = RecallSnapshot(store)
    before = look.list_files()
    add_in_place(file(store, OLD))
    assert look.list_files() == before, "it was not looked at: there may be thousands"
    monkeypatch.setattr(recall_snapshot, "_AGAIN", 0)
    assert RecallSnapshot(store).list_files() == whole(store)
    look = RecallSnapshot(store)
    look.list_files()
    add_in_place(file(store, OLD))
    assert look.list_files() == whole(store)


def test_a_folder_that_changed_just_now_is_not_relied_on(store: Store) -> None:
    """Two changes within one tick of the file system's clock give a folder the same time."""
    folder = file(store, OLD).parent
    now = time.time()
    os.utime(folder, (now, now))
    look = RecallSnapshot(store)
    look.list_files()
    file(store, OLD).unlink()
    os.utime(folder, (now, now))
    assert look.list_files() == whole(store)


def test_a_memory_that_is_open_finds_what_was_said_meanwhile(place: Place, store: Store) -> None:
    kept = OpenStore(place)
    assert kept.update_engine("text").search("marmalade", mode="text").total == 0
    age(store)
    kept.update_engine("text")
    recall.write_session(str(file(store, "new")), [message("new", "marmalade is kept cold")])
    assert kept.update_engine("text").search("marmalade", mode="text").total == 1
    file(store, "new").unlink()
    assert kept.update_engine("text").search("marmalade", mode="text").total == 0
