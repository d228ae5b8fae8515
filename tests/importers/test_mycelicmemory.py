"""What MycelicMemory remembers becomes passages, blocks and sessions."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from memfs.core.records import Message
from memfs.importers import readers
from memfs.ops import archive
from memfs.ops.sessions import find_session
from memfs.store import blocks, recall
from memfs.store.blocks import Place
from tests.importers.importing import import_path
from tests.importers.note_samples import make_mycelicmemory
from tests.importers.samples import make_database


def test_whole_memories_are_passages_with_their_relations(place: Place, tmp_path: Path) -> None:
    done = import_path(place, make_mycelicmemory(tmp_path), project="")
    assert dict(done.taken) == {("memory", ""): 2, ("block", ""): 1}
    assert dict(done.left) == {("conversation", "repo"): 1}
    found = {each.passage.source: each.passage for each in archive.list_passages(place)}
    first = found["mycelicmemory: m-1"]
    assert first.text == (
        "One timeout for all calls. 世界\n\n- causes → The gateway closes at 6 seconds (because)"
    )
    assert (first.importance, first.created_at) == (9, "2026-01-01T00:00:01Z")
    assert first.tags == ("mycelicmemory", "backend", "http", "decision")


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


def test_older_tables_are_read(place: Place, tmp_path: Path) -> None:
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
        "cannot read memory ../../x: it says nothing"
    ]


def test_all_its_databases_are_found(home: Path) -> None:
    top = home / ".mycelicmemory"
    paths = [make_mycelicmemory(top / "elsewhere"), make_mycelicmemory(top)]
    paths.append(make_mycelicmemory(top / "databases"))
    (top / "config.yaml").write_text("database:\n  path: ~/.mycelicmemory/elsewhere/memories.db\n")
    found = readers.get("mycelicmemory").find(str(home), {})
    assert found == [str(path) for path in paths]
