"""What Engram, mcp-memory-service and opencode-agent-memory remember."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from memfs.importers import readers
from memfs.ops import archive
from memfs.store import blocks
from memfs.store.blocks import Place
from tests.importers.importing import import_path
from tests.importers.note_samples import (
    make_engram,
    make_mcp_memory_service,
    make_opencode_memory,
    write_texts,
)
from tests.importers.samples import write_json


def read_passages(place: Place) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """Return (text, date, tags) of the passages, by their sources."""
    found = [each.passage for each in archive.list_passages(place)]
    return {each.source: (each.text, each.created_at, each.tags) for each in found}


def test_observations_and_summaries_of_engram(place: Place, tmp_path: Path) -> None:
    done = import_path(place, make_engram(tmp_path), project="repo")
    assert dict(done.taken) == {
        ("observation", "repo"): 1,
        ("summary", "repo"): 1,
        ("session", "repo"): 1,
    }
    assert dict(done.omitted) == {("observation", "deleted there"): 1}
    assert read_passages(place) == {
        "engram: observation 1 of repo": (
            "# Timeouts\n\nOne timeout for all calls. 世界",
            "2026-01-01T00:00:02Z",
            ("engram", "decision", "architecture/http"),
        ),
        "engram: session s-1 of repo": (
            "Waits as the server says",
            "2026-01-01T00:00:00Z",
            ("engram", "session-summary"),
        ),
    }


def test_an_export_of_engram_gives_the_same(place: Place, tmp_path: Path) -> None:
    rows: dict[str, object] = {"version": "0.1.0", "exported_at": "2026-01-01 00:00:00"}
    with closing(sqlite3.connect(make_engram(tmp_path / "base"))) as base:
        base.row_factory = sqlite3.Row
        for name, table in (("sessions", "sessions"), ("observations", "observations")):
            found = base.execute(f"SELECT * FROM {table}")
            rows[name] = [dict(row) for row in found]
    rows["prompts"] = [7, {"session_id": ["x"]}, {"id": 1, "session_id": "s-1", "content": "Hi"}]
    import_path(place, make_engram(tmp_path), project="repo")
    before = read_passages(place)
    done = import_path(place, write_json(tmp_path / "e.json", rows), project="repo")
    assert {item.outcome for item in done.items if item.kind == "passage"} == {"same"}
    assert read_passages(place) == before


def test_what_is_personal_in_engram_is_its_users(place: Place, tmp_path: Path) -> None:
    path = make_engram(tmp_path)
    with closing(sqlite3.connect(path)) as base:
        base.execute("UPDATE observations SET scope = 'personal', project = NULL")
        base.commit()
    import_path(place, path)
    tiers = {each.passage.source: each.tier for each in archive.list_passages(place)}
    assert tiers == {"engram: observation 1 of repo": "user"}


def test_memories_of_mcp_memory_service(place: Place, tmp_path: Path) -> None:
    done = import_path(place, make_mcp_memory_service(tmp_path))
    assert dict(done.omitted) == {("memory", "deleted there"): 1}
    assert read_passages(place) == {
        "mcp-memory-service: abc": (
            "One timeout for all calls. 世界",
            "2026-01-01T00:00:01Z",
            ("mcp-memory-service", "decision", "http", "gateway"),
        )
    }


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
        "cannot read h: it says nothing"
    ]


def test_blocks_and_journal_of_opencode(place: Place, home: Path) -> None:
    config = make_opencode_memory(home / ".config/opencode")
    own = "---\nlabel: Our_Rules\ndescription: R\nlimit: 9000\nread_only: true\n---\nWait.\n"
    write_texts(Path(".opencode/memory"), {"Our_Rules.md": own, "empty.md": ""})
    tool = readers.get("opencode-memory")
    assert tool.find(str(home), {}) == [
        f"{config}/memory",
        f"{config}/journal",
        str(Path(".opencode/memory").absolute()),
    ]
    import_path(place, config / "memory")
    assert blocks.get(place, "user:project").limit == 4000
    done = import_path(place, Path(".opencode/memory"))
    assert dict(done.omitted) == {("file", "without a text"): 1}
    block = blocks.get(place, "project:our_rules")
    assert (block.value, block.limit, block.read_only, block.description) == (
        "Wait.",
        9000,
        True,
        "R",
    )
    import_path(place, config)
    assert read_passages(place) == {
        "opencode-memory: 20260101-000001-000": (
            "# Retry-After\n\nSeconds.",
            "2026-01-01T00:00:01Z",
            ("opencode-memory", "http", "journal"),
        )
    }


def test_two_blocks_of_one_label_are_both_taken(place: Place, tmp_path: Path) -> None:
    block = "---\nlabel: Rules!\nlimit: 4000\nread_only: false\n---\n{}\n"
    texts = {"a.md": block.format("one"), "b.md": block.format("two")}
    done = import_path(place, write_texts(tmp_path / "m", texts))
    assert len([item for item in done.items if item.outcome == "new"]) == 2
