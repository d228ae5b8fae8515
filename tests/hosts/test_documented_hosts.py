"""Cursor and VS Code's agent, by payloads that were written from their documentation: not run."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memfs.core.body_edits import Append
from memfs.core.events import Event
from memfs.core.records import Identity, Origin
from memfs.hosts import cursor, cursor_transcript
from memfs.ops import doctor, edit, host_event, ingest, install
from memfs.store import resources, spool
from memfs.store.blocks import Place
from tests.hook.test_turns import found as found_by
from tests.hosts.reading import FIXTURES

EVENTS: dict[str, dict[tuple[object, object], dict[str, Any]]] = {"cursor": {}, "vscode": {}}
for host, events in EVENTS.items():
    for line in (FIXTURES / host / "hooks.jsonl").read_text().splitlines():
        payload = json.loads(line)[0]
        name = payload.get("hookEventName") or payload.get("hook_event_name")
        events.setdefault((name, payload.get("tool_name", "")), payload)
SESSION = EVENTS["cursor"]["stop", ""]["conversation_id"]
DATA = (FIXTURES / "cursor/transcript.jsonl").read_bytes()


def parse(name: str, **changed: object) -> Event:
    found = cursor.HOST.parse_event({**EVENTS["cursor"][name, ""], **changed})
    assert found
    return found


def answer(repo: Path, sender: str, host: str, name: str, tool: str = "", **changed: object) -> str:
    """Run our hook of a host's settings as the sender would, and return what it prints."""
    text = json.dumps({**EVENTS[sender][name, tool], **changed})
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-E", resources.path("hooks", "memfs_hook.py"), host, "mcp"],
        input=text.replace("/home/dev/shop", str(repo)).encode(),
        capture_output=True,
        check=True,
        cwd="/",
    )
    assert done.stderr == b""
    return done.stdout.decode()


PROMPTS = {"cursor": "beforeSubmitPrompt", "vscode": "UserPromptSubmit"}
OTHERS = {
    "cursor": ("sessionStart", "preCompact", ("preToolUse", "Write"), ("postToolUse", "Write")),
    "vscode": (
        *("SessionStart", "PreCompact"),
        *(("PreToolUse", "create_file"), ("PostToolUse", "editFiles")),
    ),
}


@pytest.mark.parametrize(
    ("sender", "host"), [("cursor", "cursor"), ("vscode", "claude"), ("vscode", "copilot")]
)
def test_a_session_from_its_start_to_its_end(
    place: Place, repo: Path, tmp_path: Path, sender: str, host: str
) -> None:
    def do(name: str, tool: str = "", **changed: object) -> str:
        return answer(repo, sender, host, name, tool, **changed)

    start, compact, before, after = OTHERS[sender]
    prompt, stop = PROMPTS[sender], "stop" if sender == "cursor" else "Stop"
    assert "# Core memory" in do(start)
    assert do(prompt) == ""
    edit.run(place, [Append("system_rules", "Timeouts are five seconds.")], Origin())
    assert "+ Timeouts are five seconds." in do(prompt)
    assert do(prompt) == ""
    assert '"deny"' in do(*before)
    (repo / ".agent-memory/blocks/notes.txt").write_text("x")
    assert "rename the file" in do(*after)
    assert do(compact, transcript_path=None) == ""
    assert "# Core memory" in do(prompt), "what a prompt was told is gone with the turns"
    session = EVENTS[sender][stop, ""]
    path = tmp_path / f"{session.get('conversation_id') or session['sessionId']}.jsonl"
    path.write_bytes(
        DATA if sender == "cursor" else (FIXTURES / "copilot/vscode.jsonl").read_bytes()
    )
    assert do(stop, transcript_path=str(path)) == ""
    assert found_by(place, "ten seconds")
    if sender == "cursor":
        assert do("sessionEnd", transcript_path=str(path)) == ""
        assert [note[2] for note in spool.list_notes(place.home)] == [str(path)]


def test_a_host_that_runs_the_settings_of_another_is_answered_once(
    repo: Path, place: Place
) -> None:
    """Cursor runs the hooks of Claude Code's settings, with its own payloads or like those."""
    assert answer(repo, "cursor", "claude", "sessionStart") == ""
    changed = {"hook_event_name": "SessionStart"}
    assert answer(repo, "cursor", "claude", "sessionStart", **changed) == ""
    assert "Core memory" in answer(repo, "cursor", "auto", "sessionStart"), "of the plugin"
    install.run(place, "cursor", "project", str(Path.home()))
    assert answer(repo, "cursor", "auto", "sessionStart") == "", "the settings have it"
    for other in ("codex", "gemini"):
        assert answer(repo, "vscode", other, "SessionStart") == ""


def test_a_folder_and_a_transcript_that_are_not_told_are_looked_for(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CURSOR_PROJECT_DIR", "/home/dev/my.shop")
    path = home / f".cursor/projects/home-dev-my-shop/agent-transcripts/{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA)
    found = parse("sessionEnd", workspace_roots=[], transcript_path=None)
    assert (found.cwd, found.transcript) == ("/home/dev/my.shop", str(path))
    assert list(cursor_transcript.READER.list_transcripts(str(home), "/home/dev/my.shop")) == [
        str(path)
    ]
    assert list(cursor_transcript.READER.list_transcripts(str(home), "/home/dev/my")) == []
    monkeypatch.setenv("CURSOR_TRANSCRIPT_PATH", "/elsewhere.jsonl")
    found = parse("stop", transcript_path=None)
    assert found.transcript == "/elsewhere.jsonl"


@pytest.mark.parametrize("host", ["claude", "copilot", "auto"])
def test_what_is_not_for_us_is_none(host: str) -> None:
    start = EVENTS["vscode"]["SessionStart", ""]
    for given in (
        EVENTS["vscode"]["SubagentStop", ""],
        {**start, "hookEventName": "SomethingNew"},
        {**start, "hookEventName": None},
        {**start, "sessionId": None},
        {"hookEventName": 5, "sessionId": []},
        {},
    ):
        assert host_event.recognise_event([host], given) is None


def test_nothing_comes_twice_where_the_settings_of_both_are_run(place: Place, repo: Path) -> None:
    """It runs the hooks of Claude Code's settings and of `.github/hooks`, one after the other."""
    (repo / ".agent-memory/blocks/notes.txt").write_text("x")
    for name, tool in (("SessionStart", ""), ("SubagentStart", ""), ("PostToolUse", "editFiles")):
        both = [answer(repo, "vscode", host, name, tool) for host in ("copilot", "claude")]
        assert [bool(each) for each in both] == [True, False], name
    assert answer(repo, "vscode", "copilot", "SubagentStart", agent_id="another")
    edit.run(place, [Append("system_rules", "Timeouts are five seconds.")], Origin())
    both = [answer(repo, "vscode", host, "UserPromptSubmit") for host in ("claude", "copilot")]
    assert [bool(each) for each in both] == [True, False]


def test_the_plugin_is_silent_where_settings_are_run(place: Place, repo: Path, home: Path) -> None:
    assert "# Core memory" in answer(repo, "vscode", "auto", "SessionStart")
    install.run(place, "copilot", "user", str(home))
    assert answer(repo, "vscode", "auto", "SessionStart", sessionId="another") == ""


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
        "Cursor, version unknown; no memfs hook has run yet",
        f"Cursor is wired to memfs in {hooks} (hooks and tools)",
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
