"""What claude-mem remembers becomes passages and sessions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memfs.core.records import Message
from memfs.importers import readers
from memfs.ops import archive
from memfs.ops.sessions import find_session
from memfs.store import recall
from memfs.store.blocks import Place
from tests.importers.importing import import_path
from tests.importers.samples import make_claude_mem, make_database, make_server_memory, write_json


def test_observations_and_summaries_of_the_project_become_passages(
    place: Place, tmp_path: Path
) -> None:
    done = import_path(place, make_claude_mem(tmp_path))
    assert dict(done.taken) == {
        ("observation", "repo"): 1,
        ("summary", "repo"): 1,
        ("session", "repo"): 1,
    }
    assert dict(done.left) == {("observation", "other"): 1}
    found = {each.passage.source: each.passage for each in archive.list_passages(place)}
    observation = found["claude-mem: observation 1 of repo"]
    assert observation.text == (
        "# Timeouts are 5 seconds\n\nOne constant\n\nOne timeout for all calls. 世界\n\n"
        "- HTTP_TIMEOUT = 5.0\n\nFiles: src/settings.py, src/client.py"
    )
    assert observation.created_at == "2026-01-01T00:00:01Z"
    assert observation.tags == ("claude-mem", "decision", "trade-off")
    assert found["claude-mem: summary 1 of repo"].text == (
        "Request: Wait as the server says\n\nLearned: The gateway sends seconds"
    )


def test_another_project_is_taken_by_its_name(place: Place, tmp_path: Path) -> None:
    done = import_path(place, make_claude_mem(tmp_path), project="other")
    assert dict(done.taken) == {("observation", "other"): 1}
    assert [each.passage.text.partition("\n")[0] for each in archive.list_passages(place)] == [
        "# Of another project"
    ]


def test_what_is_of_no_project_comes_with_any(place: Place, tmp_path: Path) -> None:
    done = import_path(place, make_server_memory(tmp_path), project="other")
    assert dict(done.taken) == {("entity", ""): 2}


def test_prompts_are_a_session_unless_its_transcript_is_there(place: Place, tmp_path: Path) -> None:
    path = make_claude_mem(tmp_path)
    import_path(place, path, dry_run=True)
    said = Message("m", "s-1", "claude", "", "", "", "user", "Honour Retry-After")
    recall.write_session(recall.get_path(place.home, "claude", "s-1"), [said])
    done = import_path(place, path)
    assert not [item for item in done.items if item.kind == "session"]


def test_prompts_become_a_session(place: Place, tmp_path: Path) -> None:
    import_path(place, make_claude_mem(tmp_path))
    _, path = find_session(place, "s-1")
    assert [(each.role, each.text, each.at, each.host) for each in recall.messages(path)] == [
        ("user", "Honour Retry-After", "2026-01-01T00:00:00Z", "claude-mem")
    ]


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Path]:
    """A database whose owner runs: all that it holds is in the log beside it."""
    path = tmp_path / "live.db"
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA wal_autocheckpoint = 0")
        with closing(sqlite3.connect(make_claude_mem(tmp_path / "made"))) as made:
            base.executescript("\n".join(made.iterdump()))
        base.commit()
        yield path


def test_a_database_is_read_while_its_owner_writes(place: Place, live: Path) -> None:
    assert live.stat().st_size <= 4096
    assert dict(import_path(place, live).taken)[("observation", "repo")] == 1


def test_a_log_that_was_left_is_read_and_nothing_is_written_beside_it(
    place: Place, live: Path, tmp_path: Path
) -> None:
    copied = tmp_path / "copied"
    copied.mkdir()
    for suffix in ("", "-wal"):
        (copied / f"c.db{suffix}").write_bytes(Path(f"{live}{suffix}").read_bytes())
    assert dict(import_path(place, copied / "c.db").taken)[("observation", "repo")] == 1
    assert sorted(each.name for each in copied.iterdir()) == ["c.db", "c.db-wal"]


def test_older_columns_are_read(place: Place, tmp_path: Path) -> None:
    path = make_database(
        tmp_path / "old.db",
        "CREATE TABLE sdk_sessions (id INTEGER, claude_session_id TEXT, project TEXT);"
        "CREATE TABLE session_summaries (id INTEGER, project TEXT, learned TEXT);"
        "CREATE TABLE observations (id INTEGER, project TEXT, text TEXT, type TEXT);"
        "INSERT INTO observations VALUES (1, 'repo', 'The old text', 'change');",
    )
    import_path(place, path)
    (found,) = archive.list_passages(place)
    assert (found.passage.text, found.passage.created_at) == ("The old text", "unknown")


def test_a_view_in_place_of_a_table_is_not_run(tmp_path: Path) -> None:
    path = make_database(
        tmp_path / "view.db",
        "CREATE TABLE sdk_sessions (id); CREATE TABLE session_summaries (id);"
        "CREATE VIEW observations AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        " SELECT i AS id FROM n;",
    )
    assert readers.recognise(str(path)) is None


def test_an_export_gives_the_same_passages(place: Place, tmp_path: Path) -> None:
    row = {"id": 1, "memory_session_id": "m", "project": "repo", "title": "T", "narrative": "N"}
    path = write_json(tmp_path / "e.json", {"observations": [row], "prompts": [], "summaries": []})
    import_path(place, path)
    assert [each.passage.text for each in archive.list_passages(place)] == ["# T\n\nN"]
