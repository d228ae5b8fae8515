"""Tool calls in the shapes of every provider, and their results in the same."""

import json

import pytest

from memfs.core.errors import MemfsError
from memfs.tools import provider_formats, registry
from memfs.tools.calls import Result, ToolCall

GIVEN = {"label": "human", "content": "Name: Alice"}
NAME = "core_memory_append"
CALLS = {
    "anthropic": {"type": "tool_use", "id": "t1", "name": NAME, "input": GIVEN},
    "openai": {
        "id": "t1",
        "type": "function",
        "function": {"name": NAME, "arguments": json.dumps(GIVEN)},
    },
    "responses": {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "t1",
        "name": NAME,
        "arguments": json.dumps(GIVEN),
    },
    "gemini": {"functionCall": {"id": "t1", "name": NAME, "args": GIVEN}},
    "plain": {"name": NAME, "arguments": GIVEN, "id": "t1"},
}
WHOLE = {
    "anthropic": {
        "role": "assistant",
        "content": [{"type": "text", "text": "ok"}, CALLS["anthropic"]],
    },
    "openai": {"choices": [{"message": {"role": "assistant", "tool_calls": [CALLS["openai"]]}}]},
    "responses": {"output": [{"type": "reasoning"}, CALLS["responses"]]},
    "gemini": {"candidates": [{"content": {"role": "model", "parts": [CALLS["gemini"]]}}]},
    "plain": [CALLS["plain"]],
}


@pytest.mark.parametrize("shape", CALLS)
def test_a_call_is_read_alone_in_a_list_and_in_a_whole_reply(shape: str) -> None:
    for value in (CALLS[shape], [CALLS[shape]], WHOLE[shape]):
        (found,) = provider_formats.read(json.dumps(value))
        assert found.shape == shape
        assert (found.call.name, found.call.arguments, found.call.id) == (NAME, GIVEN, "t1")


def test_many_calls_of_many_shapes_come_in_their_order() -> None:
    lines = "\n".join(json.dumps(each) for each in CALLS.values()) + "\n\n"
    assert [each.shape for each in provider_formats.read(lines)] == list(CALLS)
    indented = json.dumps(list(CALLS.values()), indent=2)
    assert [each.shape for each in provider_formats.read(indented)] == list(CALLS)


@pytest.mark.parametrize(
    "name",
    [
        "mcp__memfs__core_memory_append",
        "mcp__plugin_memfs_memfs__core_memory_append",
        "mcp_memfs_core_memory_append",
    ],
)
def test_what_hosts_put_before_a_name_is_left_out(name: str) -> None:
    (found,) = provider_formats.read(json.dumps({"name": name, "arguments": {}}))
    assert found.call.name == NAME


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "there is no tool call"),
        ("[]", "there is no tool call"),
        ("5", "there is no tool call"),
        ('{"name": "x"}', "there is no tool call"),
        ("{", "line 1 of standard input is not JSON"),
        ('{"name": "x", "arguments": {}}\nnope', "line 2 of standard input is not JSON"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_call_is_said(text: str, told: str) -> None:
    with pytest.raises(MemfsError, match=told) as raised:
        provider_formats.read(text)
    assert raised.value.code == 2


def test_arguments_that_are_broken_json_are_left_to_the_check() -> None:
    call = {"function": {"name": NAME, "arguments": '{"label": "hum'}}
    (found,) = provider_formats.read(json.dumps(call))
    assert found.call.arguments == '{"label": "hum'
    (found,) = provider_formats.read(json.dumps({"function": {"name": NAME, "arguments": ""}}))
    assert found.call.arguments == {}


def test_results_have_the_shape_of_their_call() -> None:
    done = Result(ToolCall(NAME, GIVEN, "t1"), "done")
    wrong = Result(ToolCall(NAME, GIVEN, "t1"), "error: no", is_error=True, heartbeat=True)
    assert provider_formats.write(done, "anthropic") == {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": "done",
    }
    assert provider_formats.write(done, "openai") == {
        "role": "tool",
        "tool_call_id": "t1",
        "content": "done",
    }
    assert provider_formats.write(done, "responses") == {
        "type": "function_call_output",
        "call_id": "t1",
        "output": "done",
    }
    assert provider_formats.write(wrong, "gemini") == {
        "functionResponse": {"id": "t1", "name": NAME, "response": {"error": "error: no"}},
        "is_error": True,
        "heartbeat": True,
    }
    assert provider_formats.write(done, "plain") == {"name": NAME, "result": "done", "id": "t1"}
    for shape in ("anthropic", "openai", "responses", "gemini", "plain"):
        told = provider_formats.write(wrong, shape)
        assert (told["is_error"], told["heartbeat"]) == (True, True)


def test_definitions_are_those_that_providers_take() -> None:
    tools = list(registry.built_in().values())
    by_name = {str(each["name"]): each for each in provider_formats.definitions(tools, "anthropic")}
    assert set(by_name[NAME]) == {"name", "description", "input_schema"}
    assert by_name["memory"] == {"type": "memory_20250818", "name": "memory"}
    openai = provider_formats.definitions(tools, "openai")[1]["function"]
    assert isinstance(openai, dict)
    assert "request_heartbeat" in openai["parameters"]["properties"]
    for each in provider_formats.definitions(tools, "gemini"):
        assert "additionalProperties" not in json.dumps(each)
    mcp = {str(each["name"]): each for each in provider_formats.definitions(tools, "mcp")}
    assert "request_heartbeat" not in json.dumps(mcp)
    read_only = {name for name, each in mcp.items() if '"readOnlyHint": true' in json.dumps(each)}
    destroys = {name for name, each in mcp.items() if '"destructiveHint": true' in json.dumps(each)}
    assert {"conversation_search", "core_memory_read", "memory_status"} <= read_only
    assert destroys == {"memory_delete"}


def test_every_description_says_when_and_shows_examples() -> None:
    for tool in registry.built_in().values():
        assert len(tool.description) > 150, tool.name
        said = tool.description.lower()
        assert any(
            word in said for word in ("use it", "use this", "important", "only when", "first when")
        ), tool.name
        for parameter in tool.parameters:
            assert parameter.description.endswith(".") or ":" in parameter.description
