"""VS Code's agent hooks, by payloads that were written from its documentation: it was not run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memfs.core.body_edits import Append
from memfs.core.records import Origin
from memfs.ops import edit, host_event, install
from memfs.store import resources
from memfs.store.blocks import Place
from tests.hook.test_turns import found as found_by
from tests.hosts.reading import FIXTURES

EVENTS: dict[tuple[object, object], dict[str, object]] = {}
for line in (FIXTURES / "vscode/hooks.jsonl").read_text().splitlines():
    payload = json.loads(line)[0]
    EVENTS.setdefault((payload.get("hookEventName", ""), payload.get("tool_name", "")), payload)
SESSION = EVENTS["SessionStart", ""]["sessionId"]


def answer(repo: Path, host: str, name: str, tool: str = "", **changed: object) -> str:
    """Run our hook as VS Code would, and return what it prints."""
    text = json.dumps({**EVENTS[name, tool], **changed}).replace("/home/dev/shop", str(repo))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-E", resources.path("hooks", "memfs_hook.py"), host, "mcp"],
        input=text.encode(),
        capture_output=True,
        check=True,
        cwd="/",
    )
    assert done.stderr == b""
    return done.stdout.decode()


def told(text: str) -> str:
    found = json.loads(text)["hookSpecificOutput"]["additionalContext"]
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize("host", ["claude", "copilot", "auto"])
def test_what_is_not_for_us_is_none(host: str) -> None:
    start = EVENTS["SessionStart", ""]
    for given in (
        EVENTS["SubagentStop", ""],
        {**start, "hookEventName": "SomethingNew"},
        {**start, "hookEventName": None},
        {**start, "sessionId": None},
        {"hookEventName": 5, "sessionId": []},
        {},
    ):
        assert host_event.recognise_event([host], given) is None


@pytest.mark.parametrize("host", ["claude", "copilot"])
def test_a_session_from_its_start_to_its_end(
    place: Place, repo: Path, tmp_path: Path, host: str
) -> None:
    assert "# Core memory" in told(answer(repo, host, "SessionStart"))
    assert answer(repo, host, "UserPromptSubmit") == ""
    edit.run(place, [Append("system_rules", "Timeouts are five seconds.")], Origin())
    assert "+ Timeouts are five seconds." in told(answer(repo, host, "UserPromptSubmit"))
    assert answer(repo, host, "PreToolUse", "runTerminalCommand") == ""
    refused = json.loads(answer(repo, host, "PreToolUse", "create_file"))["hookSpecificOutput"]
    assert refused["permissionDecision"] == "deny"
    (repo / ".agent-memory/blocks/notes.txt").write_text("x")
    assert "rename it" in told(answer(repo, host, "PostToolUse", "editFiles"))
    assert answer(repo, host, "PreCompact", transcript_path=None) == ""
    assert "# Core memory" in told(answer(repo, host, "UserPromptSubmit")), "the turns are gone"
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes((FIXTURES / "copilot/vscode.jsonl").read_bytes())
    assert answer(repo, host, "Stop", transcript_path=str(path)) == ""
    assert found_by(place, "ten seconds")


def test_nothing_comes_twice_where_the_settings_of_both_are_run(place: Place, repo: Path) -> None:
    """It runs the hooks of Claude Code's settings and of `.github/hooks`, one after the other."""
    (repo / ".agent-memory/blocks/notes.txt").write_text("x")
    for name, tool in (("SessionStart", ""), ("SubagentStart", ""), ("PostToolUse", "editFiles")):
        both = [answer(repo, host, name, tool) for host in ("copilot", "claude")]
        assert [bool(each) for each in both] == [True, False], name
    assert answer(repo, "copilot", "SubagentStart", agent_id="another")
    edit.run(place, [Append("system_rules", "Timeouts are five seconds.")], Origin())
    both = [answer(repo, host, "UserPromptSubmit") for host in ("claude", "copilot")]
    assert [bool(each) for each in both] == [True, False]


def test_the_plugin_is_silent_where_settings_are_run(place: Place, repo: Path, home: Path) -> None:
    assert "# Core memory" in told(answer(repo, "auto", "SessionStart"))
    install.run(place, "copilot", "user", str(home))
    assert answer(repo, "auto", "SessionStart", sessionId="another") == ""


def test_it_answers_no_hook_of_others(place: Place, repo: Path) -> None:
    assert answer(repo, "codex", "SessionStart") == answer(repo, "gemini", "SessionStart") == ""
