"""Cursor, by payloads and a transcript that were written from its documentation: it was not run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memfs.core.body_edits import Append
from memfs.core.events import Event
from memfs.core.records import Identity, Origin
from memfs.hosts import cursor, cursor_transcript
from memfs.ops import doctor, edit, ingest, install
from memfs.store import resources, spool
from memfs.store.blocks import Place
from tests.hook.test_turns import found as found_by
from tests.hosts.reading import FIXTURES

SESSION = "668320d2-2fd8-4888-b33c-2a466fec86e7"
EVENTS: dict[tuple[object, object], dict[str, object]] = {}
for line in (FIXTURES / "cursor/hooks.jsonl").read_text().splitlines():
    payload = json.loads(line)[0]
    EVENTS.setdefault((payload["hook_event_name"], payload.get("tool_name", "")), payload)
DATA = (FIXTURES / "cursor/transcript.jsonl").read_bytes()


def parsed(name: str, tool: str = "", **changed: object) -> Event | None:
    return cursor.HOST.parse_event({**EVENTS[name, tool], **changed})


def answer(repo: Path, name: str, tool: str = "", host: str = "cursor", **changed: object) -> str:
    """Run our hook as Cursor would, and return what it prints."""
    stdin = {**EVENTS[name, tool], "workspace_roots": [str(repo)], **changed}
    text = json.dumps(stdin).replace("/home/dev/shop", str(repo))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-E", resources.path("hooks", "memfs_hook.py"), host, "mcp"],
        input=text.encode(),
        capture_output=True,
        check=True,
        cwd="/",
    )
    assert done.stderr == b""
    return done.stdout.decode()


def test_a_folder_and_a_transcript_that_are_not_told_are_looked_for(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CURSOR_PROJECT_DIR", "/home/dev/my.shop")
    path = home / f".cursor/projects/home-dev-my-shop/agent-transcripts/{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA)
    found = parsed("sessionEnd", workspace_roots=[], transcript_path=None)
    assert found
    assert (found.cwd, found.transcript) == ("/home/dev/my.shop", str(path))
    assert list(cursor_transcript.READER.list_transcripts(str(home), "/home/dev/my.shop")) == [
        str(path)
    ]
    assert list(cursor_transcript.READER.list_transcripts(str(home), "/home/dev/my")) == []
    monkeypatch.setenv("CURSOR_TRANSCRIPT_PATH", "/elsewhere.jsonl")
    found = parsed("stop", transcript_path=None)
    assert found
    assert found.transcript == "/elsewhere.jsonl"


def test_a_session_from_its_start_to_its_end(place: Place, repo: Path, tmp_path: Path) -> None:
    assert "# Core memory" in json.loads(answer(repo, "sessionStart"))["additional_context"]
    assert answer(repo, "beforeSubmitPrompt") == ""
    edit.run(place, [Append("system_rules", "Timeouts are five seconds.")], Origin())
    news = json.loads(answer(repo, "beforeSubmitPrompt"))
    assert news["continue"] is True
    assert "+ Timeouts are five seconds." in news["additional_context"]
    assert answer(repo, "beforeSubmitPrompt") == ""
    assert json.loads(answer(repo, "preToolUse", "Write"))["permission"] == "deny"
    (repo / ".agent-memory/blocks/notes.txt").write_text("x")
    assert "rename it" in json.loads(answer(repo, "postToolUse", "Write"))["additional_context"]
    assert answer(repo, "preCompact", transcript_path=None) == ""
    again = json.loads(answer(repo, "beforeSubmitPrompt"))["additional_context"]
    assert "# Core memory" in again, "what a prompt was told is gone with the turns"
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(DATA)
    assert answer(repo, "stop", transcript_path=str(path)) == ""
    assert found_by(place, "ten") == ["Make it ten."]
    assert answer(repo, "sessionEnd", transcript_path=str(path)) == ""
    assert [note[2] for note in spool.list_notes(place.home)] == [str(path)]


def test_a_host_that_runs_the_settings_of_another_is_answered_once(
    repo: Path, place: Place
) -> None:
    """Cursor runs the hooks of Claude Code's settings, with its own payloads or like those."""
    assert answer(repo, "sessionStart", host="claude") == ""
    assert answer(repo, "sessionStart", host="claude", hook_event_name="SessionStart") == ""
    assert "Core memory" in answer(repo, "sessionStart", host="auto"), "of the plugin"
    install.run(place, "cursor", "project", str(Path.home()))
    assert answer(repo, "sessionStart", host="auto") == "", "the settings have it"


def test_it_is_wired_and_leaves_nothing_behind(place: Place, repo: Path, home: Path) -> None:
    (home / ".cursor").mkdir()
    hooks, tools = repo / ".cursor/hooks.json", repo / ".cursor/mcp.json"
    theirs = '{\n  "version": 1,\n  "hooks": {"stop": [{"command": "./audit.sh", "loop_limit": 10}]}\n}\n'
    hooks.parent.mkdir()
    hooks.write_text(theirs)
    done = install.run(place, "cursor", "project", str(home))
    assert [(each.path, each.outcome) for each in done] == [
        (str(hooks), "updated"),
        (str(tools), "created"),
    ]
    found = json.loads(hooks.read_text())
    assert found["version"] == 1
    assert [each["command"] for each in found["hooks"]["stop"]][:1] == ["./audit.sh"]
    assert "memfs hook cursor mcp" in found["hooks"]["stop"][1]["command"].replace("'", "")
    assert json.loads(tools.read_text())["mcpServers"]["memfs"]["args"][-2:] == [
        "--folder",
        "${workspaceFolder}",
    ]
    written = hooks.read_text()
    again = install.run(place, "cursor", "project", str(home))
    assert [each.outcome for each in again] == ["unchanged", "unchanged"]
    told = [each.text for each in doctor.run(place, str(home)) if "Cursor" in each.text]
    assert told == [
        "Cursor, version unknown; no memfs hook ran in it yet",
        f"Cursor is wired in {hooks} (hooks and tools)",
    ]
    hooks.write_text(written.replace("./audit.sh", "./check.sh"))
    install.run(place, "cursor", "project", str(home), remove=True)
    assert hooks.read_text() == theirs.replace("./audit.sh", "./check.sh")
    assert not tools.exists()
    assert [each.path for each in install.run(place, "cursor", "user", str(home))] == [
        f"{home}/.cursor/hooks.json",
        f"{home}/.cursor/mcp.json",
    ]
    install.run(place, "cursor", "user", str(home), remove=True)
    assert sorted(path.name for path in home.iterdir()) == [".agent-memory"]


def test_ingest_finds_what_it_keeps_of_a_project(place: Place, repo: Path, home: Path) -> None:
    slug = "".join(c if c.isalnum() else "-" for c in str(repo).lstrip("/"))
    path = home / f".cursor/projects/{slug}/agent-transcripts/{SESSION}/{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA)
    assert ingest.plan(place, [], str(home)).paths == [str(path)]
    assert cursor_transcript.READER.identify(DATA.splitlines(), str(path)) == Identity(
        SESSION, "", str(repo)
    )
    below, beside = repo / "a.b/c", Path(f"{repo}-old")
    for folder in (below, beside):
        folder.mkdir(parents=True)
    for name in (f"{slug}-a-b-c", f"{slug}-old", f"{slug}-gone"):
        other = home / f".cursor/projects/{name}/agent-transcripts/s.jsonl"
        other.parent.mkdir(parents=True)
        other.write_bytes(DATA)
        found = cursor_transcript.READER.identify(DATA.splitlines(), str(other))
        assert found
        there = {f"{slug}-a-b-c": str(below), f"{slug}-old": str(beside), f"{slug}-gone": ""}
        assert found.project == there[name]
    assert len(ingest.plan(place, [], str(home)).paths) == 2
    assert len(list(cursor_transcript.READER.list_transcripts(str(home), ""))) == 4
    (repo / "old").mkdir()
    assert len(ingest.plan(place, [], str(home)).paths) == 2, "it could be either's"
