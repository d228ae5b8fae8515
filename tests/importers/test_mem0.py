"""What mem0 and OpenMemory remember becomes passages."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from memfs.importers import export_format, readers
from memfs.ops import archive
from memfs.ops.sessions import find_session
from memfs.store import recall
from memfs.store.blocks import Place
from tests.importers.importing import import_path, list_details, read_memory
from tests.importers.samples import make_database, make_mem0, write_json

ALICE = "02d1c631-624c-4e3f-946d-1c734e6367c2"


def list_texts(place: Place) -> dict[str, tuple[str, ...]]:
    """Return (date, text, tags) of each passage by its source."""
    return {
        found.passage.source: (found.passage.created_at, found.passage.text, *found.passage.tags)
        for found in archive.list_passages(place)
    }


def test_the_history_says_what_each_memory_is_now(place: Place, tmp_path: Path) -> None:
    done = import_path(place, make_mem0(tmp_path))
    assert dict(done.omitted) == {("memory", "which were deleted there"): 1}
    assert list_texts(place) == {
        f"mem0: {ALICE}": ("2026-01-01T00:00:03Z", "Alice prefers Rust 世界", "mem0"),
        "mem0: 71b39274-e3ed-4a00-8df0-6b0d40d45bf1": (
            "2026-01-01T00:00:02Z",
            "The timeout is 5",
            "mem0",
        ),
    }


def test_the_messages_that_it_kept_are_a_session(place: Place, tmp_path: Path) -> None:
    import_path(place, make_mem0(tmp_path))
    _, path = find_session(place, "run_id=r9&user_id=bob")
    assert [(each.role, each.text, each.at, each.host) for each in recall.messages(path)] == [
        ("user", "I deploy on Fridays", "2026-01-01T00:00:05Z", "mem0")
    ]


def test_its_folder_is_found_where_it_is_or_where_the_environment_says(tmp_path: Path) -> None:
    path = make_mem0(tmp_path / ".mem0")
    assert readers.get("mem0").find(str(tmp_path), {}) == [str(path)]
    assert readers.get("mem0").find("/nowhere", {"MEM0_DIR": str(path.parent)}) == [str(path)]
    assert readers.get("mem0").find("/nowhere", {}) == []
    assert readers.recognise(str(path.parent)) is readers.get("mem0")


FIRST = """
CREATE TABLE history (memory_id, prev_value, new_value, event, timestamp, is_deleted);
INSERT INTO history VALUES ('a', NULL, 'An old one', 'ADD', '2024-05-01T00:00:00-07:00', 0);
"""
TYPESCRIPT = """
CREATE TABLE memory_history (id INTEGER PRIMARY KEY, memory_id TEXT, previous_value TEXT,
    new_value TEXT, action TEXT, created_at TEXT, updated_at TEXT, is_deleted INTEGER);
INSERT INTO memory_history VALUES (1, 'a', NULL, 'x', 'ADD', NULL, NULL, 0);
INSERT INTO memory_history VALUES (2, 'a', 'x', 'An old one', 'UPDATE', NULL,
    '2024-05-01T07:00:00.000Z', 0);
"""


@pytest.mark.parametrize("script", [FIRST, TYPESCRIPT], ids=["first-columns", "typescript"])
def test_the_histories_of_other_versions_are_read(
    script: str, place: Place, tmp_path: Path
) -> None:
    import_path(place, make_database(tmp_path / "memory.db", script))
    assert list_texts(place) == {"mem0: a": ("2024-05-01T07:00:00Z", "An old one", "mem0")}


def test_values_of_odd_types_are_counted_and_the_rest_is_taken(
    place: Place, tmp_path: Path
) -> None:
    script = (
        "CREATE TABLE history (memory_id, new_memory, event, updated_at, is_deleted);"
        "INSERT INTO history VALUES (7, 8, 9, 10, 11), (NULL, NULL, NULL, NULL, NULL),"
        " ('../../x', 'Taken', 'ADD', 'no time', 0), ('b', x'ff', 'ADD', '', 'no');"
    )
    done = import_path(place, make_database(tmp_path / "history.db", script))
    assert list_details(done, "refused") == [
        "cannot read an event of the history: it has no text or names no memory"
    ]
    assert list_texts(place) == {"mem0: ../../x": ("unknown", "Taken", "mem0")}


def test_an_answer_of_get_all_brings_what_was_noted_as_tags(place: Place, tmp_path: Path) -> None:
    rows = [
        {
            "id": ALICE,
            "memory": "Alice prefers Rust 世界",
            "metadata": {"category": "preference", "priority": 3, "deep": {"x": 1}},
            "created_at": "2026-01-01T00:00:01.445441+00:00",
            "updated_at": "2026-01-01T00:00:03.612749+00:00",
            "user_id": "alice",
            "categories": ["code", None, 5],
        },
        {"id": "b", "memory": 5},
        "a text",
    ]
    relations = [{"source": "alice", "relationship": "likes", "target": "rust"}, {}]
    found = {"results": rows, "relations": relations}
    done = import_path(place, write_json(tmp_path / "all.json", found))
    assert len(list_details(done, "refused")) == 2
    tags = ("mem0", "code", "user_id:alice", "preference", "priority:3")
    assert list_texts(place) == {
        f"mem0: {ALICE}": ("2026-01-01T00:00:03Z", "Alice prefers Rust 世界", *tags),
        "mem0: relations": ("unknown", "- alice → likes → rust", "mem0"),
    }
    again = import_path(place, make_mem0(tmp_path))  # the same memory by another door
    assert [item.outcome for item in again.items if ALICE in item.name or item.outcome == "same"]
    assert read_memory(place).count("Alice prefers Rust") == 1


def test_a_bare_list_is_the_same(place: Place, tmp_path: Path) -> None:
    import_path(place, write_json(tmp_path / "l.json", [{"id": "b", "memory": "A list"}]))
    assert [each[1] for each in list_texts(place).values()] == ["A list"]


OPENMEMORY = """
CREATE TABLE apps (id CHAR(32), owner_id CHAR(32), name TEXT);
CREATE TABLE users (id CHAR(32), user_id TEXT);
CREATE TABLE categories (id CHAR(32), name TEXT);
CREATE TABLE memory_categories (memory_id CHAR(32), category_id CHAR(32));
CREATE TABLE memories (id CHAR(32), user_id CHAR(32), app_id CHAR(32), content TEXT, vector TEXT,
    metadata JSON, state VARCHAR(8), created_at DATETIME, updated_at DATETIME);
INSERT INTO apps VALUES ('a1', 'u1', 'cursor');
INSERT INTO categories VALUES ('c1', 'work'), ('c2', 'Go');
INSERT INTO memory_categories VALUES ('02d1c631624c4e3f946d1c734e6367c2', 'c1'),
    ('02d1c631624c4e3f946d1c734e6367c2', 'c2');
INSERT INTO memories VALUES ('02d1c631624c4e3f946d1c734e6367c2', 'u1', 'a1', 'Kept 世界', NULL,
    '{"type": "rule"}', 'paused', '2026-01-01 00:00:01.5', '2026-01-01 00:00:03.5');
INSERT INTO memories VALUES ('b', 'u1', 'a1', 'Gone', NULL, '{}', 'deleted', NULL, NULL);
"""
KEPT = {
    f"mem0: {ALICE}": (
        "2026-01-01T00:00:03Z", "Kept 世界", "mem0", "work", "go", "cursor", "paused", "rule",
    )
}  # fmt: skip


def write_backup(path: Path, lines: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("memories.json", '{"export_meta": {"version": "1"}}')
        made.writestr("memories.jsonl.gz", lines)
    return path


def test_the_database_of_openmemory_and_its_backup_give_the_same(
    place: Place, tmp_path: Path
) -> None:
    done = import_path(place, make_database(tmp_path / "openmemory.db", OPENMEMORY))
    assert dict(done.omitted) == {("memory", "which were deleted there"): 1}
    assert list_texts(place) == KEPT
    line = {
        "id": ALICE,
        "content": "Kept 世界",
        "metadata": {"type": "rule"},
        "updated_at": "2026-01-01T00:00:03.500000+00:00",
        "state": "paused",
        "app": "cursor",
        "categories": ["work", "Go"],
    }
    lines = f"{json.dumps(line)}\nno JSON\n{json.dumps({**line, 'state': 'deleted'})}\n"
    backup = write_backup(tmp_path / "b.zip", gzip.compress(lines.encode()))
    again = import_path(place, backup)
    assert [item.outcome for item in again.items] == ["refused", "same"]
    assert list_texts(place) == KEPT


def test_all_its_tables_as_json_give_the_same(place: Place, tmp_path: Path) -> None:
    found = {
        "user": {"id": "u1", "user_id": "alice"},
        "apps": [{"id": "a1", "owner_id": "u1", "name": "cursor"}],
        "categories": [{"id": "c1", "name": "work"}, {"id": "c2", "name": "Go"}],
        "memories": [
            {
                "id": ALICE,
                "user_id": "u1",
                "app_id": "a1",
                "content": "Kept 世界",
                "metadata": {"type": "rule"},
                "state": "paused",
                "updated_at": "2026-01-01T00:00:03.500000+00:00",
            }
        ],
        "memory_categories": [
            {"memory_id": ALICE, "category_id": "c1"},
            {"memory_id": ALICE, "category_id": "c2"},
        ],
    }
    import_path(place, write_json(tmp_path / "memories.json", found))
    assert list_texts(place) == KEPT


@pytest.mark.parametrize(
    "lines",
    [gzip.compress(b"0" * (3 << 20)) * 100, gzip.compress(b"{}")[:-6], b"no gzip"],
    ids=["bomb", "cut", "other"],
)
def test_a_backup_that_is_damaged_or_a_bomb_is_refused(
    lines: bytes, place: Place, tmp_path: Path
) -> None:
    done = import_path(place, write_backup(tmp_path / "b.zip", lines))
    (detail,) = list_details(done, "refused")
    assert "too much for its size" in detail or "cannot be read" in detail
    assert not archive.list_passages(place)


def test_the_vector_store_is_nobody_s(tmp_path: Path) -> None:
    path = make_database(tmp_path / "storage.sqlite", "CREATE TABLE points (id TEXT, point BLOB)")
    assert readers.recognise(str(path)) is None


def test_a_zip_of_too_many_files_is_nobody_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_format, "MOST_FILES", 1)
    path = write_backup(tmp_path / "b.zip", gzip.compress(b"{}"))
    assert readers.recognise(str(path)) is None
