"""What claude-mem, MycelicMemory, Engram and mcp-memory-service keep in rows of a database."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memfs.core.records import Message
from memfs.importers import readers
from memfs.ops import archive
from memfs.ops.sessions import find_session
from memfs.store import blocks, recall
from memfs.store.blocks import Place
from tests.importers.importing import import_path, read_passages
from tests.importers.note_samples import make_engram, make_mycelicmemory
from tests.importers.samples import make_claude_mem, make_database, make_server_memory, write_json


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


def test_the_last_version_of_a_block_is_taken(place: Place, tmp_path: Path) -> None:
    path = make_database(
        tmp_path / "m.db",
        "CREATE TABLE memories (id, content, importance, domain);"
        "CREATE TABLE memory_relationships (id, source_memory_id);"
        "CREATE TABLE memory_blocks (id, block_type, content, max_tokens, version);"
        "INSERT INTO memory_blocks VALUES (1, 'system', 'new', 500, 2);"
        "INSERT INTO memory_blocks VALUES (2, 'system', 'old', 500, 1);"
        "INSERT INTO memory_blocks VALUES (3, 'human', 'Ana', 'many', 'x');",
    )
    import_path(place, path)
    block = blocks.get(place, "project:system")
    assert (block.value, block.limit) == ("new", 2000)
    assert "Ana" in blocks.get(place, "user:human").value


def test_a_conversation_is_a_session_unless_its_transcript_is_there(
    place: Place, tmp_path: Path
) -> None:
    path = make_mycelicmemory(tmp_path)
    import_path(place, path, project="repo")
    _, found = find_session(place, "s-1")
    assert [(each.role, each.text, each.host) for each in recall.messages(found)] == [
        ("user", "Honour Retry-After", "mycelicmemory")
    ]
    recall.remove_session(found)
    said = Message("m", "s-1", "claude", "", "", "", "user", "Honour Retry-After")
    recall.write_session(recall.get_path(place.home, "claude", "s-1"), [said])
    again = import_path(place, path, project="repo")
    assert not [item for item in again.items if item.kind == "session"]


def test_older_tables_of_mycelicmemory_are_read(place: Place, tmp_path: Path) -> None:
    path = make_database(
        tmp_path / "old.db",
        "CREATE TABLE memories (id TEXT, content TEXT, importance INTEGER, domain TEXT);"
        "CREATE TABLE memory_relationships (id TEXT, source_memory_id TEXT);"
        "CREATE TABLE cc_sessions (id TEXT, session_id TEXT);"
        "CREATE TABLE cc_messages (id TEXT, session_id TEXT, role TEXT, content TEXT);"
        "INSERT INTO memories VALUES ('m', 'The old text', NULL, NULL);"
        "INSERT INTO cc_sessions VALUES ('c', 's-9');"
        "INSERT INTO cc_messages VALUES ('p', 'c', 'user', 'hello');",
    )
    done = import_path(place, path)
    assert dict(done.taken) == {("memory", ""): 1, ("conversation", ""): 1}
    (found,) = archive.list_passages(place)
    assert (found.passage.text, found.passage.created_at) == ("The old text", "unknown")


def test_a_contradiction_is_marked_and_odd_values_do_no_harm(place: Place, tmp_path: Path) -> None:
    path = make_mycelicmemory(tmp_path)
    with closing(sqlite3.connect(path)) as base:
        base.execute("UPDATE memory_relationships SET relationship_type = 'contradicts'")
        base.execute("UPDATE memories SET importance = 'high', tags = '{', created_at = 'x'")
        base.execute("INSERT INTO memories (id, content) VALUES ('../../x', X'00FF')")
        base.execute("INSERT INTO messages VALUES (5, 'none', 7, 8, 9, 'x')")
        base.commit()
    done = import_path(place, path)
    tags = {each.passage.source: each.passage.tags for each in archive.list_passages(place)}
    assert "contradicts" in tags["mycelicmemory: m-1"]
    assert [item.detail for item in done.items if item.outcome == "refused"] == [
        "cannot read memory ../../x: it has no text"
    ]


def test_all_its_databases_are_found(home: Path) -> None:
    top = home / ".mycelicmemory"
    paths = [make_mycelicmemory(top / "elsewhere"), make_mycelicmemory(top)]
    paths.append(make_mycelicmemory(top / "databases"))
    (top / "config.yaml").write_text("database:\n  path: ~/.mycelicmemory/elsewhere/memories.db\n")
    found = readers.get("mycelicmemory").find(str(home), {})
    assert found == [str(path) for path in paths]


def test_an_export_of_engram_gives_the_same(place: Place, tmp_path: Path) -> None:
    rows: dict[str, object] = {"version": "0.1.0", "exported_at": "2026-01-01 00:00:00"}
    with closing(sqlite3.connect(make_engram(tmp_path / "base"))) as base:
        base.row_factory = sqlite3.Row
        for name, table in (("sessions", "sessions"), ("observations", "observations")):
            found = base.execute(f"SELECT * FROM {table}")
            rows[name] = [dict(row) for row in found]
    rows["prompts"] = [7, {"session_id": ["x"]}, {"id": 1, "session_id": "s-1", "content": "Hi"}]
    import_path(place, make_engram(tmp_path), project="repo")
    before = read_passages(place, "text", "created_at", "tags")
    done = import_path(place, write_json(tmp_path / "e.json", rows), project="repo")
    assert {item.outcome for item in done.items if item.kind == "passage"} == {"same"}
    assert read_passages(place, "text", "created_at", "tags") == before


def test_what_is_personal_in_engram_is_its_users(place: Place, tmp_path: Path) -> None:
    path = make_engram(tmp_path)
    with closing(sqlite3.connect(path)) as base:
        base.execute("UPDATE observations SET scope = 'personal', project = NULL")
        base.commit()
    import_path(place, path)
    tiers = {each.passage.source: each.tier for each in archive.list_passages(place)}
    assert tiers == {"engram: observation 1 of repo": "user"}


def test_older_columns_of_mcp_memory_service(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE memories (content_hash, content, tags)")
        base.execute(
            "INSERT INTO memories VALUES (5, 'text', 7), ('h', NULL, NULL), (1, 'b', '[1')"
        )
        base.commit()
    done = import_path(place, path)
    assert [each.passage.created_at for each in archive.list_passages(place)] == ["unknown"] * 2
    assert [item.detail for item in done.items if item.outcome == "refused"] == [
        "cannot read h: it has no text"
    ]
