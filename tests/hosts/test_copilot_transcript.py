"""Copilot's transcripts: what is read, what is left out, and that cutting changes nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memfs.core.records import Identity, Transcript
from memfs.hosts import copilot_transcript
from memfs.hosts.jsonl import TOOL_CAP
from memfs.ingest import workers
from tests.examples import examples
from tests.hosts.reading import FIXTURES, JSON, can_be_kept, file_of, in_steps, odd, reads

SESSION = "c0911107-0000-4000-8000-000000000001"
IDENTITY = Identity(SESSION, "", "/home/dev/shop", "main")
PATH = FIXTURES / "copilot/events.jsonl"
DATA = PATH.read_bytes()


def identify(data: bytes, path: str = "/x/y.jsonl") -> Identity | None:
    return copilot_transcript.READER.identify(data.splitlines(keepends=True), path)


def read(data: bytes) -> Transcript:
    return copilot_transcript.READER.read_transcript(data, IDENTITY, start=0)


def event(kind: str, ident: str = "", **data: object) -> bytes:
    line = {"type": kind, "data": data, "id": ident, "timestamp": "2026-11-20T10:00:00Z"}
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def test_a_part_of_a_file_is_read_with_what_stands_before_it() -> None:
    start = DATA.index(b'{"type":"user.message","data":{"content":"please')
    found = workers.read(workers.TranscriptPart("copilot", IDENTITY, str(PATH), start, len(DATA)))
    assert isinstance(found, workers.TranscriptRead)
    assert found.rows.ids == ["e16", "e17"]


LINE = odd(
    {
        "type": st.sampled_from(
            [
                "user.message",
                "assistant.message",
                "tool.execution_start",
                "tool.execution_complete",
                "hook.end",
                "session.start",
            ]
        ),
        "id": st.text(max_size=3),
        "timestamp": st.just("2026-11-20T10:00:00Z"),
        "agentId": JSON,
        "data": odd(
            {
                "content": st.sampled_from(["a", "b"]),
                "sessionId": JSON,
                "context": odd({"cwd": JSON}),
                "toolRequests": st.lists(
                    odd({"toolCallId": st.text(max_size=2), "name": JSON, "arguments": JSON})
                ),
                "toolCallId": st.text(max_size=2),
                "toolName": JSON,
                "arguments": JSON,
                "error": JSON,
                "result": odd({"content": JSON}),
                "hookType": st.just("agentStop"),
                "source": JSON,
                "output": odd(
                    {"decision": st.just("block"), "reason": st.sampled_from(["a", "b"])}
                ),
            }
        ),
    }
)


@given(st.data(), file_of(LINE))
@examples(50)
def test_odd_files_raise_nothing_and_can_be_cut(data: st.DataObject, file: bytes) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(file)), max_size=4))
    found = read(file)
    assert in_steps(reads("copilot", IDENTITY, file), file, cuts) == found
    assert can_be_kept(found)
    identify(file)


def test_a_call_is_one_message_wherever_it_is_told_of() -> None:
    asked = event(
        "assistant.message",
        "e1",
        content="",
        toolRequests=[{"toolCallId": "c", "name": "bash", "arguments": '{"command": "ls"}'}],
    )
    made = event(
        "tool.execution_start", "e2", toolCallId="c", toolName="bash", arguments={"command": "ls"}
    )
    for data in (asked, made, asked + made):
        (message,) = read(data).messages
        assert (message.id, message.tool, message.text) == ("c", "bash", "command: ls")


def test_tool_texts_are_capped() -> None:
    data = event("tool.execution_start", toolName="f", arguments={"a": "x" * 9000, "b": "é" * 9000})
    data += event("tool.execution_complete", result={"content": "ü" * 9000})
    texts = [message.text for message in read(data).messages]
    assert len(texts) == 2
    assert all(len(text.encode()) <= TOOL_CAP for text in texts)


def test_whose_session_it_is() -> None:
    assert identify(DATA) == IDENTITY
    assert identify(event("session.start", sessionId="s")) == Identity("s", "")
    rest = DATA[DATA.index(b"\n") + 1 :]
    assert identify(rest, "/x/the-session/events.jsonl") == Identity("the-session", "")
    resumed = event("hook.start") + event("session.resume", context={"cwd": "/p", "branch": "b"})
    assert identify(resumed, "/x/s/events.jsonl") == Identity("s", "", "/p", "b")


def test_what_it_keeps_of_a_project_is_found(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path / "copilot"))
    made = []
    for number, (root, cwd) in enumerate(
        [
            (home / ".copilot", "/home/dev/shop/web"),
            (tmp_path / "copilot", "/home/dev/shop"),
            (tmp_path / "copilot", "/home/dev/shop-old"),
        ]
    ):
        path = root / f"session-state/s{number}/events.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(event("session.start", sessionId=f"s{number}", context={"cwd": cwd}))
        os.utime(path, (number, number))
        made.append(str(path))
    assert list(copilot_transcript.READER.list_transcripts(str(home), "/home/dev/shop")) == made[:2]
