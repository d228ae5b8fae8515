"""The scripted model by itself: the same script, asked for and read on each wire."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.hosts.script import Json
from tests.hosts.scripted_model import (
    Reply,
    ScriptedModel,
    ToolUse,
    last_user_text,
    results,
    texts,
    tool_names,
)


class Wire(NamedTuple):
    """A request as an assistant makes it, and where it goes; ``whole`` where not to stream."""

    name: str
    path: str
    request: Json
    whole: str = ""


ANTHROPIC = Wire(
    "anthropic",
    "/v1/messages?beta=true",
    {
        "tools": [{"name": "m__read", "input_schema": {}}],
        "messages": [
            {"role": "user", "content": "asked"},
            {"role": "system", "content": "injected"},
            {"role": "assistant", "content": [{"type": "text", "text": "thinking"}]},
            {"role": "user", "content": [{"type": "tool_result", "content": "ran"}]},
        ],
    },
)
RESPONSES = Wire(
    "responses",
    "/v1/responses",
    {
        "tools": [{"type": "namespace", "name": "m", "tools": [{"name": "read"}]}],
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "asked"}]},
            {"role": "developer", "content": [{"type": "input_text", "text": "injected"}]},
            {"role": "assistant", "content": [{"type": "output_text", "text": "thinking"}]},
            {"type": "function_call", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "output": "ran"},
        ],
    },
)
CHAT = Wire(
    "chat",
    "/v1/chat/completions",
    {
        "tools": [{"type": "function", "function": {"name": "m__read"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "asked"}]},
            {"role": "system", "content": "injected"},
            {"role": "assistant", "content": "thinking", "tool_calls": [{"id": "c"}]},
            {"role": "tool", "content": "ran"},
        ],
    },
)
GEMINI = Wire(
    "gemini",
    "/v1beta/models/m:streamGenerateContent?alt=sse",
    {
        "tools": [{"functionDeclarations": [{"name": "m__read"}]}],
        "contents": [
            {"role": "user", "parts": [{"text": "asked"}]},
            {"role": "model", "parts": [{"text": "thinking"}, {"functionCall": {"name": "x"}}]},
            {"role": "user", "parts": [{"functionResponse": {"response": {"output": "ran"}}}]},
        ],
    },
    "/v1beta/models/m:generateContent",
)
WIRES = pytest.mark.parametrize(
    "wire", [ANTHROPIC, RESPONSES, CHAT, GEMINI], ids=lambda wire: wire.name
)
SCRIPT: list[str | Reply] = [Reply("Looking.", (ToolUse("m__read", {"label": "human"}),)), "Found."]


def post(url: str, body: Json) -> str:
    request = urllib.request.Request(url, json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=10) as answer:
        return str(answer.read().decode())


def leaves(value: object) -> Iterator[str]:
    """The texts in a JSON value, also those that hold JSON themselves."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from leaves(each)
    elif isinstance(value, str):
        yield value
        if value.startswith("{"):
            yield from leaves(json.loads(value))


@WIRES
def test_a_request_is_read_the_same_on_each_wire(wire: Wire) -> None:
    said = ["asked", "injected", "thinking", "ran"]
    if wire is GEMINI:
        said.remove("injected")  # it has no messages of the system
    assert texts(wire.request) == said
    assert texts(wire.request, "user") == ["asked", "ran"]
    assert texts(wire.request, "assistant") == ["thinking"]
    assert texts(wire.request, "system") == said[1:-2]
    assert results(wire.request) == ["ran"]
    assert last_user_text(wire.request) == "asked"
    assert tool_names(wire.request) == ["m__read"]


@WIRES
def test_a_script_is_answered_as_a_stream_and_whole(wire: Wire) -> None:
    with ScriptedModel([*SCRIPT, *SCRIPT]) as model:
        stream = wire.request | {"stream": True}
        events = [post(model.url + wire.path, stream) for _ in SCRIPT]
        whole = [post(model.url + (wire.whole or wire.path), wire.request) for _ in SCRIPT]
        assert len(model.requests) == 4
    lines = [line for each in events for line in each.splitlines() if line.startswith("data: ")]
    streamed = [json.loads(line[6:]) for line in lines if line != "data: [DONE]"]
    for answer in (streamed, [json.loads(each) for each in whole]):
        found = list(leaves(answer))
        assert "Looking." in found
        assert "human" in found
        assert "Found." in found
        assert ("read" if wire is RESPONSES else "m__read") in found
