"""Codex's transcripts: what is read, what is left out, and that cutting changes nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.records import Identity, Transcript
from memfs.hosts import codex_transcript
from memfs.hosts.jsonl import TOOL_CAP
from tests.examples import examples
from tests.hosts.reading import FIXTURES, JSON, can_be_kept, file_of, in_steps, odd, reads, said

SESSION = "01a1f800-0000-7000-8000-000000000001"
IDENTITY = Identity(SESSION, "", "/home/dev/shop", "main")
DATA = (FIXTURES / "codex/session.jsonl").read_bytes()


def identify(data: bytes, path: str = "/x/rollout.jsonl") -> Identity | None:
    return codex_transcript.READER.identify(data.splitlines(keepends=True), path)


def read(data: bytes) -> Transcript:
    return codex_transcript.READER.read_transcript(data, IDENTITY, start=0)


def item(**payload: object) -> bytes:
    line = {"timestamp": "2026-11-20T09:00:00.000Z", "type": "response_item", "payload": payload}
    return json.dumps(line).encode() + b"\n"


def typed(*texts: str, kinds: list[str] | None = None) -> list[tuple[str, str]]:
    told = {"content_item_kinds": kinds} if kinds else {}
    content = [{"type": "input_text", "text": text} for text in texts]
    return said(
        read(
            item(
                type="message",
                role="user",
                content=content,
                internal_chat_message_metadata_passthrough=told,
            )
        )
    )


LINE = odd(
    {
        "type": st.sampled_from(["response_item", "message", "session_meta", "event_msg"]),
        "timestamp": st.just("2026-11-20T09:00:00Z"),
        "id": st.text(max_size=3),
        "role": st.sampled_from(["user", "assistant"]),
        "content": JSON,
        "metadata": st.just({"compaction_output": True}),
        "instructions": JSON,
        "payload": odd(
            {
                "type": st.sampled_from(
                    ["message", "function_call", "x_call", "function_call_output"]
                ),
                "role": st.sampled_from(["user", "assistant", "developer"]),
                "content": st.lists(odd({"text": st.text(max_size=4)}), max_size=3),
                "name": JSON,
                "arguments": st.just('{"a": [1]}'),
                "output": st.just('{"output":"x"}'),
                "id": JSON,
                "source": odd({"subagent": odd({"thread_spawn": JSON})}),
                "git": JSON,
                "internal_chat_message_metadata_passthrough": odd({"content_item_kinds": JSON}),
            }
        ),
    }
)


@given(st.data(), file_of(LINE))
@examples(50)
def test_odd_files_raise_nothing_and_can_be_cut(data: st.DataObject, file: bytes) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(file)), max_size=4))
    found = read(file)
    assert in_steps(reads("codex", IDENTITY, file), file, cuts) == found
    assert can_be_kept(found)
    identify(file)


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n<cwd>/x</cwd>",
        "<user_instructions>be nice",
        "<turn_aborted>\nThe user",
        "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>",
        "<hook_prompt hook_run_id='1'>save</hook_prompt>",
        "Another language model started to solve this problem and produced a summary of it",
        "# Context from my IDE setup:\n\n## Open tabs:\n- a.py",
        " \n",
    ],
)
def test_what_nobody_typed_is_left_out(text: str) -> None:
    assert typed(text) == typed(text, kinds=["unknown"]) == []


def test_codex_own_labels_decide_where_it_has_some() -> None:
    assert typed("<user_instructions> is a tag?", kinds=["user.text"]) == [
        ("user", "<user_instructions> is a tag?")
    ]
    assert typed("memory", "hello", kinds=["hooks.additional_context", "user.text"]) == [
        ("user", "hello")
    ]


def test_what_an_editor_tells_of_itself_is_left_out() -> None:
    asked = (
        "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nfix a\n"
    )
    assert typed(asked) == [("user", "fix a")]
    assert typed("<image name=[Image #1]>", "</image>", "what is this?") == [
        ("user", "what is this?")
    ]


def test_a_command_the_person_ran_is_a_tools_output() -> None:
    text = "<user_shell_command>\n<command>ls</command>\n<result>a</result>\n</user_shell_command>"
    assert typed(text) == [("shell", text)]


def test_tool_texts_are_capped() -> None:
    data = item(
        type="function_call", name="f", arguments=json.dumps({"a": "x" * 9000, "b": "é" * 9000})
    )
    data += item(type="function_call_output", output="ü" * 9000)
    data += item(type="function_call_output", output=[{"type": "input_text", "text": "z" * 9000}])
    data += item(type="function_call_output", output={"content": "w" * 9000, "success": True})
    texts = [message.text for message in read(data).messages]
    assert len(texts) == 4
    assert all(len(text.encode()) <= TOOL_CAP for text in texts)


def meta(**payload: object) -> bytes:
    line = {"type": "session_meta", "payload": payload}
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


@pytest.mark.parametrize(
    ("payload", "identity"),
    [
        ({"id": "a", "cwd": "/p", "git": {"branch": "b"}}, Identity("a", "", "/p", "b")),
        ({"id": "a", "session_id": "root"}, Identity("root", "a")),
        (
            {"id": "a", "source": {"subagent": {"thread_spawn": {"parent_thread_id": "root"}}}},
            Identity("root", "a"),
        ),
        ({"id": "a", "source": {"subagent": "review"}}, Identity("a", "review")),
        ({"id": "a", "source": {"subagent": {"other": "x"}}}, Identity("a", "subagent")),
    ],
)
def test_a_subagent_is_a_side_chain_of_its_session(
    payload: dict[str, object], identity: Identity
) -> None:
    assert identify(meta(**payload)) == identity
    data = item(type="message", role="assistant", content="x")
    (message,) = codex_transcript.READER.read_transcript(data, identity, start=0).messages
    assert message.side is bool(identity.agent)


def test_a_session_whose_beginning_is_lost_is_known_by_its_name() -> None:
    rest = DATA[DATA.index(b"\n") + 1 :]
    name = f"/x/rollout-2026-11-20T09-00-00-{SESSION}.jsonl"
    assert identify(rest, name) == Identity(SESSION, "")
    assert identify(rest, "/x/other.jsonl") is None


def test_what_it_keeps_of_a_project_is_found(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "codex"
    monkeypatch.setenv("CODEX_HOME", str(other))
    made = []
    for number, (root, cwd) in enumerate(
        [
            (home / ".codex", "/home/dev/shop/web"),
            (other, "/home/dev/shop"),
            (other, "/home/dev/shop-old"),
            (other, "/home/dev"),
        ]
    ):
        folder = root / ("archived_sessions" if number else "sessions/2026/11/20")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rollout-2026-11-20T09-00-0{number}-{SESSION}.jsonl"
        path.write_bytes(meta(id=SESSION, cwd=cwd))
        os.utime(path, (number, number))
        made.append(str(path))
    (other / "history.jsonl").write_text("{}")
    assert list(codex_transcript.READER.list_transcripts(str(home), "/home/dev/shop")) == made[:2]
    assert (
        list(codex_transcript.READER.list_transcripts(str(tmp_path / "nobody"), "/home/dev/none"))
        == []
    )
