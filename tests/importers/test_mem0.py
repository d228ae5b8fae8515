"""What mem0 and OpenMemory remember becomes passages."""

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from memfs.core.errors import StoreError
from memfs.importers import export_format, readers
from memfs.ops import archive
from memfs.store.blocks import Place
from tests.importers.importing import import_path, list_details
from tests.importers.samples import make_database, make_mem0, make_zip

ALICE = "02d1c631-624c-4e3f-946d-1c734e6367c2"


def list_texts(place: Place) -> dict[str, tuple[str, ...]]:
    """Return (date, text, tags) of each passage by its source."""
    return {
        found.passage.source: (found.passage.created_at, found.passage.text, *found.passage.tags)
        for found in archive.list_passages(place)
    }


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
    assert dict(done.omitted) == {("memory", "deleted in its tool"): 1}
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


def test_a_zip_in_the_place_of_its_history_is_refused(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "history.db", {"a.json": {}})
    with pytest.raises(StoreError, match=r"memories\.jsonl\.gz is missing"):
        list(readers.get("mem0").read(str(path)))


def test_the_vector_store_is_nobody_s(tmp_path: Path) -> None:
    path = make_database(tmp_path / "storage.sqlite", "CREATE TABLE points (id TEXT, point BLOB)")
    assert readers.recognise(str(path)) is None


def test_a_zip_of_too_many_files_is_nobody_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_format, "MOST_FILES", 1)
    path = write_backup(tmp_path / "b.zip", gzip.compress(b"{}"))
    assert readers.recognise(str(path)) is None
