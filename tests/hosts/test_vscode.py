"""VS Code's agent hooks, by payloads that were written from its documentation: it was not run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memfs.core import events
from memfs.core.body_edits import Append
from memfs.core.events import Event, Reply
from memfs.core.records import Origin
from memfs.hosts import vscode
from memfs.hosts.base import detect_host
from memfs.ops import edit, host_event, install
from memfs.store import resources
from memfs.store.blocks import Place
from tests.hook.test_turns import found as found_by
from tests.hosts.reading import FIXTURES

LINES = [
    json.loads(line) for line in (FIXTURES / "vscode/hook-stdin.jsonl").read_text().splitlines()
]
EVENTS = {(each.get("hookEventName", ""), each.get("tool_name", "")): each for each in LINES}
SESSION = LINES[0]["sessionId"]
BY_SOURCE = LINES[-1]  # with the keys that its source sends
NOTES = "/home/dev/shop/.agent-memory/blocks/notes.txt"


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


@pytest.mark.parametrize(
    ("name", "tool", "kind", "files"),
    [
        ("SessionStart", "", events.START, ()),
        ("UserPromptSubmit", "", events.PROMPT, ()),
        (
            "PreToolUse",
            "create_file",
            events.BEFORE,
            (NOTES.replace("blocks/notes.txt", "local/x.md"),),
        ),
        ("PostToolUse", "editFiles", events.AFTER, (NOTES,)),
        ("SubagentStart", "", events.AGENT, ()),
        ("PreCompact", "", events.COMPACT, ()),
        ("Stop", "", events.STOP, ()),
    ],
)
def test_events_are_read(name: str, tool: str, kind: str, files: tuple[str, ...]) -> None:
    given = EVENTS[name, tool]
    found = vscode.HOST.parse_event(given)
    assert found
    assert (found.host, found.kind, found.session) == ("copilot", kind, SESSION)
    assert (found.cwd, found.files) == ("/home/dev/shop", files)
    assert found.transcript.endswith(f"{SESSION}.jsonl")
    assert detect_host(given) == "vscode"


def test_the_keys_of_its_source_are_read_too() -> None:
    assert detect_host(BY_SOURCE) == "vscode"
    windows = {**BY_SOURCE, "transcript_path": BY_SOURCE["transcript_path"].replace("/", "\\")}
    assert detect_host(windows) == "vscode"
    found = vscode.HOST.parse_event(BY_SOURCE)
    assert found
    assert (found.session, found.kind) == (SESSION, events.AFTER)
    assert found.files == (NOTES, "/home/dev/shop/a.py")


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


def test_replies_are_in_its_shape() -> None:
    start, written, before, stop = (
        Event("copilot", kind, name, "s", "/x")
        for kind, name in (
            (events.START, "SessionStart"),
            (events.AFTER, "PostToolUse"),
            (events.BEFORE, "PreToolUse"),
            (events.STOP, "Stop"),
        )
    )
    assert json.loads(vscode.HOST.format_reply(start, Reply("brief", "look"))) == {
        "systemMessage": "look",
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "brief"},
    }
    assert json.loads(vscode.HOST.format_reply(written, Reply("wrong"))) == {
        "hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "wrong"}
    }
    assert json.loads(vscode.HOST.format_reply(before, Reply(refusal="no"))) == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "no",
        }
    }
    assert json.loads(vscode.HOST.format_reply(stop, Reply(notice="saved", more="look again"))) == {
        "systemMessage": "saved",
        "hookSpecificOutput": {
            "hookEventName": "Stop",
            "decision": "block",
            "reason": "look again",
        },
    }
    assert (
        vscode.HOST.format_reply(stop, Reply("brief"))
        == vscode.HOST.format_reply(start, Reply())
        == ""
    )


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
