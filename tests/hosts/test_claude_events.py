"""Claude Code's hook events and replies, against payloads it really sent; and its transcripts."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs import hosts
from memfs.core import events
from memfs.core.errors import USAGE, MemfsError
from memfs.core.events import START, Event, Reply
from memfs.hosts import claude, claude_transcript
from tests.hosts.transcript_lines import FIXTURES, conversation

RECORDED = [json.loads(text) for text in (FIXTURES / "hook-stdin.jsonl").read_text().splitlines()]
KINDS = {
    "SessionStart": events.START,
    "SubagentStart": events.AGENT,
    "UserPromptSubmit": events.PROMPT,
    "Stop": events.STOP,
    "PreCompact": events.COMPACT,
    "SessionEnd": events.END,
    "PreToolUse": events.BEFORE,
    "PostToolUse": events.AFTER,
}
WRITES = {"Write": "file_path", "Edit": "file_path", "NotebookEdit": "notebook_path"}


@pytest.mark.parametrize("record", RECORDED, ids=lambda record: record["event"])
def test_each_recorded_payload_is_read(record: dict[str, dict[str, str]]) -> None:
    payload = record["stdin"]
    found = claude.HOST.parse_event(dict(payload))
    given_ = payload.get("tool_input")
    path = given_.get("file_path", "") if isinstance(given_, dict) else ""
    if payload["hook_event_name"] not in KINDS or (given_ and not path):
        assert found is None
        return
    assert found
    assert found.opened == ((path,) if path else ())
    assert found.files == (found.opened if payload.get("tool_name") in WRITES else ())
    assert found.kind == KINDS[payload["hook_event_name"]]
    assert (found.host, found.name) == ("claude", payload["hook_event_name"])
    assert (found.session, found.cwd) == (payload["session_id"], payload["cwd"])
    assert found.transcript == payload["transcript_path"]
    assert (found.source, found.prompt) == (payload.get("source", ""), payload.get("prompt", ""))


def test_every_event_that_we_ask_for_was_recorded() -> None:
    manifest = json.loads((Path(__file__).parents[2] / "hooks/claude/hooks.json").read_text())
    assert set(manifest["hooks"]) == set(KINDS) <= {record["event"] for record in RECORDED}


JSON = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text(), max_size=2)


@given(
    st.dictionaries(st.sampled_from(["session_id", "cwd", "prompt", "source", "x"]), JSON),
    st.sampled_from([*KINDS, "PreToolUse", ""]) | JSON,
)
def test_any_payload_gives_texts_or_nothing(payload: dict[str, object], name: object) -> None:
    found = claude.HOST.parse_event({**payload, "hook_event_name": name})
    if found is None:
        session = payload.get("session_id")
        others = [each for each in KINDS if not each.endswith("ToolUse")]
        assert name not in others or not session or not isinstance(session, str)
        return
    for field in set(Event.__slots__) - {"again", "tools", "files", "late", "opened"}:
        assert isinstance(getattr(found, field), str)


@pytest.mark.parametrize("name", KINDS)
def test_a_reply_is_what_claude_code_asks_for(name: str) -> None:
    event = Event("claude", KINDS[name], name, "s", "/x")
    text = 'Name: "Ålice" 😀 </aside>\nline\x00 two'
    reply = claude.HOST.format_reply(event, Reply(text))
    if name in ("SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"):
        assert reply.endswith("}}\n")
        assert reply.count("\n") == 1
        assert reply.isascii()
        assert json.loads(reply) == {
            "hookSpecificOutput": {"hookEventName": name, "additionalContext": text}
        }
    else:
        assert reply == ""
    assert claude.HOST.format_reply(event, Reply()) == ""


@pytest.mark.parametrize("tool", WRITES)
def test_a_tool_that_writes_is_read_with_its_file(tool: str) -> None:
    payload: dict[str, object] = {
        "hook_event_name": "PostToolUse",
        "session_id": "s",
        "cwd": "/x",
        "tool_name": tool,
        "tool_input": {WRITES[tool]: "/x/a.md"},
    }
    found = claude.HOST.parse_event(payload)
    assert found
    assert (found.kind, found.files) == (events.AFTER, ("/x/a.md",))
    for odd in ({}, None, {"file_path": 5}):
        assert claude.HOST.parse_event({**payload, "tool_input": odd}) is None
    assert claude.HOST.parse_event({**payload, "tool_name": "Glob"}) is None


def test_a_refusal_keeps_the_tool_from_running() -> None:
    event = Event("claude", events.BEFORE, "PreToolUse", "s", "/x", files=("/x/a",))
    assert json.loads(claude.HOST.format_reply(event, Reply(refusal="no"))) == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "no",
        }
    }
    assert claude.HOST.format_reply(event, Reply()) == ""


def test_a_notice_goes_to_the_person_and_not_to_the_model() -> None:
    event = Event("claude", START, "SessionStart", "s", "/x")
    assert json.loads(claude.HOST.format_reply(event, Reply("", "look"))) == {
        "systemMessage": "look"
    }
    both = json.loads(claude.HOST.format_reply(event, Reply("text", "look")))
    assert both["systemMessage"] == "look"
    assert both["hookSpecificOutput"]["additionalContext"] == "text"


def test_an_unknown_host_is_a_usage_error() -> None:
    with pytest.raises(MemfsError, match="unknown host 'emacs'") as raised:
        hosts.get("emacs")
    assert raised.value.code == USAGE
    assert [hosts.get(name).NAME for name in hosts.NAMES] == list(hosts.NAMES)


class Projects:
    """The folder in which Claude Code keeps its transcripts."""

    def __init__(self, home: Path) -> None:
        self.root = home / ".claude/projects"
        self.clock = 1_700_000_000

    def add(self, name: str, cwd: str = "") -> str:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(
            json.dumps({"type": "user", "cwd": cwd}, separators=(",", ":")).encode() if cwd else b""
        )
        self.clock += 1
        os.utime(path, (self.clock, self.clock))
        return str(path)


def test_a_projects_transcripts_are_listed_oldest_first(home: Path) -> None:
    projects = Projects(home)
    second = projects.add("-w-my-shop/b.jsonl", "/w/my.shop")
    below = projects.add("-w-my-shop-api/c.jsonl", "/w/my.shop/api")
    agent = projects.add("-w-my-shop/b/subagents/agent-x.jsonl", "/w/my.shop")
    silent = projects.add("-w-my-shop/d.jsonl")
    projects.add("-w-my-shop/notes.txt")
    projects.add("-w-other/e.jsonl", "/w/other")
    assert claude_transcript.READER.list_transcripts(str(home), "/w/my.shop") == [
        second,
        below,
        agent,
        silent,
    ]


def test_a_neighbours_transcripts_are_not_taken_for_the_projects(home: Path) -> None:
    """The folder of `shop-old` looks like that of `shop/old`."""
    projects = Projects(home)
    own = projects.add("-w-shop/a.jsonl", "/w/shop")
    projects.add("-w-shop-old/b.jsonl", "/w/shop-old")
    below = projects.add("-w-shop-old/c.jsonl", "/w/shop/old")
    projects.add("-w-shop/d.jsonl", "/w.shop")
    assert claude_transcript.READER.list_transcripts(str(home), "/w/shop") == [own, below]


def test_odd_project_names_are_found(home: Path) -> None:
    projects = Projects(home)
    path = projects.add("-w-a-b-c/a.jsonl", '/w/a"b\\c')
    assert claude_transcript.READER.list_transcripts(str(home), '/w/a"b\\c') == [path]


def test_links_that_lead_nowhere_and_unreadable_files_are_no_trouble(home: Path) -> None:
    projects = Projects(home)
    own = projects.add("-w-shop/a.jsonl", "/w/shop")
    (projects.root / "-w-shop/gone.jsonl").symlink_to(home / "nowhere")
    (projects.root / "-w-shop/folder.jsonl").mkdir()
    assert claude_transcript.READER.list_transcripts(str(home), "/w/shop") == [own]


def test_the_configuration_folder_can_be_elsewhere(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert claude_transcript.READER.list_transcripts(str(home), "/w/shop") == []
    path = tmp_path / "cfg/projects/-w-shop/a.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(conversation(1))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "cfg"))
    assert claude_transcript.READER.list_transcripts(str(home), "/home/dev/shop") == []
    assert claude_transcript.READER.list_transcripts(str(home), "/w/shop") == [str(path)]
