"""What hosts send to a hook, and what they are answered, in the exact shape of each.

`fixtures/HOST/hooks.jsonl` has a payload a line, and what is read of it; null is not for us. Those
of Claude Code, Devin, Grok, Kilo and Qwen were sent; Cursor's and VS Code's are as documented.
`fixtures/replies.jsonl` has what is printed at each kind of event.

`MEMFS_TEST_RECORD=1 python -m pytest tests/hosts/test_events.py -n 0` writes what is read now.
"""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs import hosts
from memfs.core import events
from memfs.core.errors import USAGE, MemfsError
from memfs.core.events import Event, Reply
from memfs.hosts.base import detect_host
from tests.examples import examples
from tests.hosts.reading import FIXTURES, change

RECORD = bool(os.environ.get("MEMFS_TEST_RECORD"))
HOSTS = [*hosts.NAMES, "vscode"]
KINDS = [
    *(events.START, events.AGENT, events.PROMPT, events.STOP, events.COMPACT, events.END),
    *(events.BEFORE, events.AFTER),
]
PAYLOADS: dict[str, list[tuple[dict[str, object], object]]] = {
    host: [json.loads(line) for line in (FIXTURES / host / "hooks.jsonl").read_text().splitlines()]
    for host in HOSTS
}
COMMON = {"session_id": "s-1", "cwd": "/home/dev/shop"}
CODEX = {**COMMON, "model": "gpt-5.4", "permission_mode": "default"}
COPILOT = {**COMMON, "timestamp": "2026-11-20T04:57:34.237Z"}


@pytest.mark.parametrize("host", HOSTS)
def test_payloads_become_events(host: str) -> None:
    made: list[list[object]] = []
    for payload, _ in PAYLOADS[host]:
        found = hosts.get(host).parse_event(dict(payload))
        fields = (
            {key: getattr(found, key) for key in Event.__slots__ if key != "name"} if found else {}
        )
        told = {key: list(v) if isinstance(v, tuple) else v for key, v in fields.items() if v}
        made.append([payload, told or None])
        if found and host != "grok":  # Grok's are as Claude Code's beside its own
            names = (payload.get("hook_event_name"), payload.get("hookEventName"))
            assert found.name in names
    if RECORD:
        lines = [json.dumps(each, ensure_ascii=False) + "\n" for each in made]
        (FIXTURES / host / "hooks.jsonl").write_text("".join(lines))
    assert made == list(map(list, PAYLOADS[host]))
    odd: list[dict[str, object]] = [{}, {"hook_event_name": 5}, {"hook_event_name": "Stop"}]
    assert not any(map(hosts.get(host).parse_event, odd))


def test_what_an_event_is_answered() -> None:
    replies = [
        Reply('Known: "Ålice" 😀\x00 </aside>', "Look."),
        Reply(refusal="No."),
        Reply(refusal="Sure?", asks=True),
        Reply(more="Look again.", notice="Saved."),
    ]
    made = []
    for host in map(hosts.get, HOSTS):
        for kind in KINDS:
            event = Event(host.NAME, kind, "EventName", "s", "/x", files=("/x/a",))
            printed = [host.format_reply(event, reply) for reply in replies]
            assert host.format_reply(event, Reply()) == ""
            assert all(text.isascii() and text.count("\n") == bool(text) for text in printed)
            told = [json.loads(text) if text else None for text in printed]
            made.append([host.NAME, kind, *told])
            assert told[0] or kind != host.TELLS, "it tells the model something there"
    kept = FIXTURES / "replies.jsonl"
    if RECORD:
        kept.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in made))
    assert made == [json.loads(line) for line in kept.read_text().splitlines()]


def test_every_event_that_we_ask_claude_code_for_was_recorded() -> None:
    manifest = json.loads((Path(__file__).parents[2] / "hooks/claude/hooks.json").read_text())
    recorded = {payload["hook_event_name"] for payload, _ in PAYLOADS["claude"]}
    assert set(manifest["hooks"]) == set(hosts.get("claude").KINDS) <= recorded


@st.composite
def odd_payloads(draw: st.DrawFn) -> tuple[str, dict[str, object]]:
    host = draw(st.sampled_from(HOSTS))
    value: object = draw(st.sampled_from(PAYLOADS[host]))[0]
    for _ in range(draw(st.integers(1, 3))):
        value = change(draw, value)
    return host, value if isinstance(value, dict) else {}


@given(odd_payloads())
@examples(300)
def test_any_payload_gives_texts_or_nothing(odd: tuple[str, dict[str, object]]) -> None:
    host, payload = odd
    detect_host(payload)
    found = hosts.get(host).parse_event(payload)
    for field in set(Event.__slots__) - {"again", "tools", "files", "late", "opened"}:
        assert found is None or isinstance(getattr(found, field), str)


BY_SOURCE = "/home/dev/.config/Code/User/w/GitHub.copilot-chat/transcripts/s.jsonl"


@pytest.mark.parametrize(
    ("given_", "host"),
    [
        ({**COMMON, "transcript_path": "/home/dev/.claude/projects/-home-dev-shop/s-1.jsonl"}, "claude"),
        (CODEX, "codex"),
        ({**CODEX, "transcript_path": None}, "codex"),
        ({**COMMON, "transcript_path": "/home/dev/.codex/sessions/rollout-2026-s-1.jsonl"}, "codex"),
        ({**COMMON, "turn_id": "t", "transcript_path": None}, "codex"),
        (COPILOT, "copilot"),
        ({**COPILOT, "transcript_path": "/home/dev/.copilot/session-state/s-1/events.jsonl"}, "copilot"),
        ({**COPILOT, "transcript_path": "/x/chats/session-2026-11-20T04-46-7df1.jsonl"}, "gemini"),
        ({**COMMON, "cursor_version": "3.20"}, "cursor"),
        ({**COMMON, "host": "opencode"}, "opencode"),
        ({**COPILOT, "hookEventName": "x", "hook_event_name": "x", "workspaceRoot": "/"}, "grok"),
        ({"hookEventName": "Stop", "sessionId": "s-1"}, "vscode"),
        ({**COPILOT, "transcript_path": BY_SOURCE}, "vscode"),
        ({**COPILOT, "transcript_path": BY_SOURCE.replace("/", "\\")}, "vscode"),
        ({}, ""),
    ],
)  # fmt: skip
def test_a_payload_tells_whose_it_is(given_: dict[str, object], host: str) -> None:
    assert detect_host(given_) == host


def test_an_unknown_host_is_a_usage_error() -> None:
    with pytest.raises(MemfsError, match="unknown assistant 'emacs'") as raised:
        hosts.get("emacs")
    assert raised.value.code == USAGE
    assert [hosts.get(name).NAME for name in hosts.NAMES] == list(hosts.NAMES)


def parsed(host: str, **payload: object) -> Event:
    found = hosts.get(host).parse_event({**COMMON, **payload})
    assert found
    return found


def test_copilots_end_of_a_session_names_no_transcript_so_it_is_found(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_ = {**COPILOT, "hook_event_name": "SessionEnd", "session_id": "../s-1"}
    found = parsed("copilot", **given_)
    assert found.transcript == f"{home}/.copilot/session-state/s-1/events.jsonl"
    monkeypatch.setenv("COPILOT_HOME", "/elsewhere")
    assert parsed("copilot", **given_).transcript == "/elsewhere/session-state/s-1/events.jsonl"


SET = '{"$set":{"messages":[{"type":"user","content":[{"text":"<session_context>"}]}]}}'
BRIEF = '{"type":"user","content":[{"text":"<hook_context># Core memory (always available)"}]}'
SAID = '{"type":"gemini","content":"Core memory it is."}'


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
    given_ = {"transcript_path": str(path)}
    assert parsed("gemini", hook_event_name="AfterAgent", **given_).kind == kind
    assert parsed("gemini", hook_event_name="BeforeAgent", **given_).kind == events.PROMPT
