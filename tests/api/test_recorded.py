"""Transcripts, sessions, facts, exports, imports and data sources in Python."""

from pathlib import Path

import pytest

import memfs
from memfs.hosts import claude_transcript
from memfs.store.blocks import Place
from tests.hosts.transcript_lines import SESSION, assistant, user

SAID = "We decided to use `httpx` for the gateway."


@pytest.fixture
def memory(place: Place, home: Path) -> memfs.Memory:
    """A project with two sessions in recall."""
    top = place.home.top
    folder = Path(claude_transcript.READER.list_folders(str(home), top)[0])
    folder.mkdir(parents=True)
    lines = user(SAID, "u1", cwd=top), assistant("It does now.", "u2"), user("Thanks!", "u3")
    (folder / f"{SESSION}.jsonl").write_bytes(b"".join(lines))
    later = user("later", "u4", timestamp="2026-05-04T10:00:00.000Z", cwd=top)
    side = user(
        "of a subagent", "u5", isSidechain=True, timestamp="2026-05-04T10:00:01.000Z", cwd=top
    )
    other = SESSION.replace("5e", "6e", 1)
    (folder / "other.jsonl").write_bytes((later + side).replace(SESSION.encode(), other.encode()))
    return memfs.open(top)


def test_transcripts_become_sessions(memory: memfs.Memory) -> None:
    done = memory.ingest()
    assert (done.files, done.sessions) == (2, 2)
    assert memory.ingest().messages == 0
    latest, first = memory.list_sessions()
    assert memory.list_sessions(1) == [latest]
    assert (latest.prompt, latest.started) == ("later", "2026-05-04T10:00:00.000Z")
    assert (first.id, first.host, first.prompt) == (SESSION, "claude", SAID)
    assert repr(first) == f"<RecordedSession {SESSION} claude 2026-05-03: {SAID!r}>"
    assert [m.text for m in memory.read_session(SESSION[:4])] == [SAID, "It does now.", "Thanks!"]
    assert [m.text for m in memory.read_session("6e")] == ["later"]


def test_a_transcript_by_its_path(memory: memfs.Memory, home: Path) -> None:
    [path] = home.glob(f".claude/projects/*/{SESSION}.jsonl")
    assert memory.ingest(path).messages == 3
    assert [session.id for session in memory.list_sessions()] == [SESSION]
    with pytest.raises(memfs.NotFoundError, match="there is no session '6e'"):
        memory.read_session("6e")


def test_an_outcome(memory: memfs.Memory) -> None:
    memory.ingest()
    memory.outcome(SESSION[:8], "failed", why="the tests hang", turn=1)
    [flow] = memory.orchestrator().kinds["graph"].retrieve(memfs.Query(id=f"flow/{SESSION}/1"))
    assert flow.metadata["outcome"] == -1
    assert flow.metadata["why"] == "the tests hang"


def test_facts_are_extracted_and_decided_on(memory: memfs.Memory) -> None:
    memory.ingest()
    [fact] = memory.extract_facts()
    assert memory.extract_facts() == []
    assert memory.facts(categories=["decision"], since="2026-05", min_confidence=0.5) == [fact]
    assert memory.facts(entities=["requests"]) == []
    assert memory.accept_fact(fact.id[:6]).status == "accepted"
    assert memory.facts("httpx")[0].holds
    memory.reject_fact(fact.id)
    assert memory.facts() == []
    assert [each.id for each in memory.facts(statuses=["rejected"])] == [fact.id]


def test_an_export_is_imported(memory: memfs.Memory, tmp_path: Path) -> None:
    memory.create("api", "The API", "It is versioned.")
    path = tmp_path / "memory.zip"
    assert memory.export(path).counts["blocks"] == 3
    with pytest.raises(memfs.MemfsError, match="already exists"):
        memory.export(path)
    memory.export(path, everything=True, force=True)
    memory.delete("api")
    assert memory.import_(path, dry_run=True).entries == ()
    [entry] = memory.import_(path).entries
    assert (entry.label, entry.reason) == ("api", "from memory.zip")
    assert memory.show("api").value == "It is versioned."


def test_files_of_other_tools_are_imported(memory: memfs.Memory, repo: Path) -> None:
    (repo / "CLAUDE.md").write_text("Run `make test`.\n")
    [found] = memory.import_().files
    assert found.label
    memory.import_("CLAUDE.md", pin=True)
    assert memory.show(found.label).pinned
    assert "make test" in memory.show(found.label).value


def test_an_export_holds_no_secret(memory: memfs.Memory, repo: Path, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    (repo / ".agent-memory/blocks/api.md").write_text(f"token {token}\n")
    with pytest.raises(memfs.RejectedError, match=r"contains a secret \(blocks/api.md:1\)"):
        memory.export(tmp_path / "memory.zip")
    assert memory.export(tmp_path / "memory.zip", anyway=True).secrets


def test_a_source_is_added_synced_and_removed(place: Place, repo: Path) -> None:
    (repo / "docs").mkdir()
    (repo / "docs/a.md").write_text("gophers dig\n")
    with memfs.open(repo) as memory:
        added = memory.add_source("docs", repo / "docs", globs=["*.md"])
        assert added.source.globs == ("*.md",)
        assert added.state == memory.sources()[0].state
        (repo / "docs/b.md").write_text("herons fish\n")
        [found] = memory.sync_sources("docs")
        assert found.state
        assert found.state.files == 2
        memory.remove_source("docs")
        assert memory.sources() == []
        with pytest.raises(memfs.NotFoundError):
            memory.sync_sources("docs")
