"""What hosts send to a hook, and what they are answered, in the exact shape of each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memfs import hosts
from memfs.core import events
from memfs.core.events import Event, Reply
from memfs.hosts import base, codex, copilot, gemini
from tests.hosts.reading import FIXTURES

COMMON = {"session_id": "s-1", "cwd": "/home/dev/shop"}
CODEX = {
    **COMMON,
    "transcript_path": "/home/dev/.codex/sessions/2026/11/20/rollout-2026-s-1.jsonl",
    "model": "gpt-5.4",
    "permission_mode": "default",
}
COPILOT = {**COMMON, "timestamp": "2026-11-20T04:57:34.237Z"}
GEMINI = {
    **COMMON,
    "timestamp": "2026-11-20T04:46:32.233Z",
    "transcript_path": "/home/dev/.gemini/tmp/shop/chats/session-2026-11-20T04-46-7df1.jsonl",
}
CLAUDE = {**COMMON, "transcript_path": "/home/dev/.claude/projects/-home-dev-shop/s-1.jsonl"}
GROK = {"hookEventName": "stop", "hook_event_name": "Stop", "sessionId": "s-1", **COPILOT}
GROK["workspaceRoot"] = "/home/dev/shop/"
PATCH = (
    "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n"
    "*** Update File: .agent-memory/blocks/human.md\n@@\n+z\n*** End Patch"
)


@pytest.mark.parametrize(
    ("given", "host"),
    [
        (CLAUDE, "claude"),
        (CODEX, "codex"),
        (COPILOT, "copilot"),
        (GEMINI, "gemini"),
        ({**COMMON, "turn_id": "t", "transcript_path": None}, "codex"),
        ({**CODEX, "transcript_path": None}, "codex"),
        ({**COMMON, "cursor_version": "3.20"}, "cursor"),
        (
            {**COPILOT, "transcript_path": "/home/dev/.copilot/session-state/s-1/events.jsonl"},
            "copilot",
        ),
        ({**COMMON, "host": "opencode"}, "opencode"),
        (GROK, "grok"),
        ({"hookEventName": "Stop", "sessionId": "s-1"}, "vscode"),
        ({}, ""),
    ],
)
def test_a_payload_tells_whose_it_is(given: dict[str, object], host: str) -> None:
    assert base.detect_host(given) == host


SET = '{"$set":{"messages":[{"type":"user","content":[{"text":"<session_context>"}]}]}}'
BRIEF = '{"type":"user","content":[{"text":"<hook_context># Core memory (always available)"}]}'
SAID = '{"type":"gemini","content":"Core memory it is."}'


@pytest.mark.parametrize(
    ("host", "base", "name", "kind"),
    [
        *[
            ("codex", CODEX, *pair)
            for pair in [
                ("SessionStart", events.START),
                ("UserPromptSubmit", events.PROMPT),
                ("Stop", events.STOP),
                ("PreCompact", events.COMPACT),
                ("SessionEnd", events.END),
            ]
        ],
        *[
            ("copilot", COPILOT, *pair)
            for pair in [
                ("SessionStart", events.START),
                ("UserPromptSubmit", events.PROMPT),
                ("Stop", events.STOP),
                ("PreCompact", events.COMPACT),
                ("SessionEnd", events.END),
            ]
        ],
        *[
            ("gemini", GEMINI, *pair)
            for pair in [
                ("SessionStart", events.START),
                ("BeforeAgent", events.PROMPT),
                ("AfterAgent", events.STOP),
                ("SessionEnd", events.END),
            ]
        ],
    ],
)
def test_events_are_read(host: str, base: dict[str, str], name: str, kind: str) -> None:
    given = {**base, "hook_event_name": name, "prompt": "hello", "source": "startup"}
    found = hosts.get(host).parse_event(dict(given))
    assert found
    assert (found.host, found.kind, found.name) == (host, kind, name)
    assert (found.session, found.cwd, found.prompt) == ("s-1", "/home/dev/shop", "hello")
    if (host, kind) != ("copilot", events.END):
        assert found.transcript == base.get("transcript_path", "")


def test_copilots_end_of_a_session_names_no_transcript_so_it_is_found(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {**COPILOT, "hook_event_name": "SessionEnd", "session_id": "../s-1"}
    found = hosts.get("copilot").parse_event(dict(given))
    assert found
    assert found.transcript == f"{home}/.copilot/session-state/s-1/events.jsonl"
    monkeypatch.setenv("COPILOT_HOME", "/elsewhere")
    found = hosts.get("copilot").parse_event(dict(given))
    assert found
    assert found.transcript == "/elsewhere/session-state/s-1/events.jsonl"


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        ((SET, BRIEF, SAID), events.STOP),  # as a session begins
        ((SET, BRIEF, SAID, SET, SAID), events.COMPACT),
        ((SET, BRIEF, SAID, SET, BRIEF), events.STOP),  # it was given anew
        ((SET, BRIEF, SAID, SET[:-3] + BRIEF + "]}}"), events.STOP),  # it is in what was kept
        ((SET, BRIEF, SAID, '{"$set":{"lastUpdated":"x"}}'), events.STOP),
        ((SET, SAID), events.STOP),  # it was never given
        ((), events.STOP),
    ],
)
def test_gemini_compressed_where_the_brief_is_no_more_in_what_the_model_is_given(
    tmp_path: Path, lines: tuple[str, ...], kind: str
) -> None:
    path = tmp_path / "session-1.jsonl"
    path.write_text("\n".join(lines))
    given = {**GEMINI, "hook_event_name": "AfterAgent", "transcript_path": str(path)}
    found = hosts.get("gemini").parse_event(dict(given))
    assert found
    assert found.kind == kind
    given["hook_event_name"] = "BeforeAgent"
    found = hosts.get("gemini").parse_event(dict(given))
    assert found
    assert found.kind == events.PROMPT


HOOKS = [
    (path.parent.name, *json.loads(line))
    for path in sorted(FIXTURES.glob("*/hooks.jsonl"))
    for line in path.read_text().splitlines()
]
REPLY = Reply(context="Known.", more="Look again.", refusal="It is read-only.")


@pytest.mark.parametrize(("host", "given", "expected", "reply"), HOOKS)
def test_payloads_of_fixtures_become_events_and_replies(
    host: str, given: dict[str, object], expected: dict[str, object] | None, reply: object
) -> None:
    """`fixtures/HOST/hooks.jsonl` has a payload a line, what is read of it, and what is printed."""
    found = hosts.get(host).parse_event(dict(given))
    assert (found is None) == (expected is None)
    if found is None or expected is None:
        return
    read = {key: getattr(found, key) for key in expected}
    read = {key: list(each) if isinstance(each, tuple) else each for key, each in read.items()}
    assert read | {"files": list(found.files)} == {"files": [], **expected}
    printed = hosts.get(host).format_reply(found, REPLY)
    assert (json.loads(printed) if printed else None) == reply


@pytest.mark.parametrize("host", hosts.NAMES)
@pytest.mark.parametrize("given", [{}, {"hook_event_name": 5}, {"hook_event_name": "Stop"}])
def test_what_is_not_for_us_is_none(host: str, given: dict[str, object]) -> None:
    assert hosts.get(host).parse_event(given) is None


@pytest.mark.parametrize(
    ("host", "base", "name", "tool", "given", "file"),
    [
        (
            "codex",
            CODEX,
            "PreToolUse",
            "apply_patch",
            {"command": PATCH},
            "a.py .agent-memory/blocks/human.md",
        ),
        ("copilot", COPILOT, "PreToolUse", "edit", {"path": "/x/a.md", "old_str": "a"}, "/x/a.md"),
        ("copilot", COPILOT, "PostToolUse", "create", {"path": "/x/a.md"}, "/x/a.md"),
        ("copilot", COPILOT, "PostToolUse", "Write", {"path": "/x/a.md"}, "/x/a.md"),
        ("opencode", COMMON, "PreToolUse", "write", {"filePath": "/x/a.md"}, "/x/a.md"),
        (
            "opencode",
            COMMON,
            "PostToolUse",
            "apply_patch",
            {"patchText": PATCH},
            "a.py .agent-memory/blocks/human.md",
        ),
        ("gemini", GEMINI, "BeforeTool", "write_file", {"file_path": "/x/a.md"}, "/x/a.md"),
        ("gemini", GEMINI, "AfterTool", "replace", {"file_path": "/x/a.md"}, "/x/a.md"),
    ],
)
def test_files_that_tools_write_are_seen(
    host: str, base: dict[str, str], name: str, tool: str, given: dict[str, str], file: str
) -> None:
    event = {**base, "hook_event_name": name, "tool_name": tool, "tool_input": given}
    found = hosts.get(host).parse_event(dict(event))
    assert found
    assert " ".join(found.files) == file
    assert hosts.get(host).parse_event({**event, "tool_name": "list"}) is None


# A tool that reads, one that runs commands, and the payload that is common to a host's events.
TOOLS: dict[str, tuple[dict[str, str], str, str]] = {
    "claude": (CLAUDE, "Read", "Bash"),
    "codex": (CODEX, "", "Bash"),
    "copilot": (COPILOT, "view", "bash"),
    "cursor": (COMMON, "Read", "Shell"),
    "devin": (COMMON, "read", "exec"),
    "gemini": (GEMINI, "read_file", "run_shell_command"),
    "grok": (GROK, "read_file", "run_terminal_command"),
    "kilo": (COMMON, "read", "bash"),
    "opencode": (COMMON, "read", "bash"),
    "qwen": (COMMON, "read_file", "run_shell_command"),
}


@pytest.mark.parametrize("host", hosts.NAMES)
def test_files_that_tools_read_and_commands_are_seen(host: str) -> None:
    base, reader, shell = TOOLS[host]
    module = hosts.get(host)
    names = {"gemini": ("BeforeTool", "AfterTool"), "cursor": ("preToolUse", "postToolUse")}
    for name in names.get(host, ("PreToolUse", "PostToolUse")):
        event: dict[str, object] = {**base, "hook_event_name": name}
        given = {"tool_name": shell, "tool_input": {"command": "git push"}}
        found = module.parse_event({**event, **given})
        assert found
        assert (found.command, found.files, found.opened) == ("git push", (), ())
        assert module.parse_event({**event, "tool_name": shell, "tool_input": {}}) is None
        if reader:
            given = {"tool_name": reader, "tool_input": {"file_path": "/x/a.py"}}
            found = module.parse_event({**event, **given, "agent_id": "a1"})
            assert found
            assert (found.command, found.files, found.opened) == ("", (), ("/x/a.py",))
            assert found.agent == "a1"


@pytest.mark.parametrize("host", hosts.NAMES)
def test_a_question_is_asked_where_the_host_can_ask(host: str) -> None:
    module = hosts.get(host)
    event = Event(host, events.BEFORE, "PreToolUse", "s", "/x")
    asked = module.format_reply(event, Reply(refusal="Sure?", asks=True))
    assert ('"ask"' in asked) == (host != "cursor")
    assert (host in ("claude", "copilot", "gemini", "grok", "qwen")) == module.ASKS
    refused = module.format_reply(event, Reply(refusal="No."))
    assert '"deny"' in refused and "No." in refused  # noqa: PT018 - one thing
    told = Event(host, module.TELLS, "Tool", "s", "/x")
    assert "Known." in module.format_reply(told, Reply("Known."))


def test_what_gemini_adds_to_a_prompt_is_not_the_prompt() -> None:
    text = "<hook_context># Core memory</hook_context>\n\nhello"
    found = gemini.HOST.parse_event({**GEMINI, "hook_event_name": "BeforeAgent", "prompt": text})
    assert found
    assert found.prompt == "hello"


START = Event("x", events.START, "SessionStart", "s", "/x")
BEFORE = Event("x", events.BEFORE, "PreToolUse", "s", "/x", files=("f",))
STOP = Event("x", events.STOP, "Stop", "s", "/x")


def test_replies_are_in_the_shape_of_each_host() -> None:
    told, refused = Reply("brief", "look"), Reply(refusal="no")
    nested = {"hookEventName": "SessionStart", "additionalContext": "brief"}
    deny = {"permissionDecision": "deny", "permissionDecisionReason": "no"}
    assert json.loads(codex.HOST.format_reply(START, told)) == {
        "systemMessage": "look",
        "hookSpecificOutput": nested,
    }
    assert json.loads(codex.HOST.format_reply(BEFORE, refused)) == {
        "hookSpecificOutput": {"hookEventName": "PreToolUse", **deny}
    }
    assert json.loads(copilot.HOST.format_reply(START, told)) == {
        "systemMessage": "look",
        "additionalContext": "brief",
    }
    assert json.loads(copilot.HOST.format_reply(BEFORE, refused)) == deny
    assert json.loads(gemini.HOST.format_reply(START, told))["hookSpecificOutput"] == nested
    assert json.loads(gemini.HOST.format_reply(BEFORE, refused)) == {
        "decision": "deny",
        "reason": "no",
    }
    for module in (codex.HOST, copilot.HOST, gemini.HOST):
        assert module.format_reply(START, Reply()) == ""
        assert module.format_reply(STOP, Reply("brief")) == ""
