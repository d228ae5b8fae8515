"""The providers' formats of tools, calls and results; a call is answered in its own format."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from memfs.core.errors import UsageError
from memfs.tools.calls import Result, ToolCall
from memfs.tools.definition import HEARTBEAT, Tool

Shape = Literal["anthropic", "openai", "responses", "gemini", "plain"]
FORMATS = ("anthropic", "openai", "gemini", "mcp")
_ANTHROPIC_MEMORY = "memory"
_BEAT = {
    "type": "boolean",
    "description": "true: you get the result and go on. Without it the turn ends here, and the "
    "user sees only the text of this answer.",
}


@dataclass(frozen=True)
class FormattedCall:
    """A call, and the shape that it was read from."""

    call: ToolCall
    shape: Shape


def definitions(tools: Iterable[Tool], form: str) -> list[dict[str, object]]:
    """Return the definitions of tools in one of `FORMATS`."""
    return [_define(tool, form) for tool in tools]


def _define(tool: Tool, form: str) -> dict[str, object]:
    if form == "mcp":
        return tool.define()
    schema = tool.schema()
    named: dict[str, object] = {"name": tool.name, "description": tool.description}
    known = schema["properties"]
    schema["properties"] = {**known, HEARTBEAT: _BEAT} if isinstance(known, dict) else known
    if form == "openai":
        return {"type": "function", "function": {**named, "parameters": schema}}
    if form == "gemini":
        return {**named, "parameters": schema}
    if tool.name == _ANTHROPIC_MEMORY:
        return {"type": "memory_20250818", "name": _ANTHROPIC_MEMORY}
    return {**named, "input_schema": schema}


def read(text: str) -> list[FormattedCall]:
    """Return the tool calls in a text: JSON or JSONL, one or many, whole replies or calls alone.

    Raises `UsageError` for a text that is no JSON, or holds no call.
    """
    found = [each for value in _parse_values(text) for each in calls_in(value)]
    if not found:
        raise UsageError(
            "there is no tool call on standard input",
            'pass a call as {"name": "core_memory_append", "arguments": {…}}, or a model\'s reply',
        )
    return found


def _parse_values(text: str) -> Iterator[object]:
    try:
        yield json.loads(text)
        return
    except RecursionError as error:
        raise UsageError("the JSON on standard input is nested too deeply") from error
    except ValueError:
        pass
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UsageError(f"line {number} of standard input is not JSON: {error}") from error


def calls_in(value: object) -> Iterator[FormattedCall]:
    """Yield the calls in a value, in their order."""
    if isinstance(value, list):
        for item in value:
            yield from calls_in(item)
    if not isinstance(value, dict):
        return
    call = _parse_call(value)
    if call is not None:
        yield call
        return
    for key in _HOLDERS:
        if key in value:
            yield from calls_in(value[key])


# The keys of replies that hold calls: messages, content blocks, choices, output items.
_HOLDERS = (
    "content tool_calls tool_use choices message messages delta output candidates parts "
    "functionCalls response"
).split()


def _parse_call(value: dict[str, object]) -> FormattedCall | None:
    inner = value.get("function")
    gemini = value.get("functionCall") or value.get("function_call")
    call_id = value.get("call_id")
    ident = value.get("id") or call_id
    if value.get("type") == "tool_use":
        return FormattedCall(
            ToolCall(_parse_name(value), value.get("input"), str(ident or "")), "anthropic"
        )
    shape: Shape
    if isinstance(inner, dict) and "name" in inner:
        shape, call, given = "openai", inner, inner.get("arguments")
    elif value.get("type") == "function_call":
        shape, call, given, ident = "responses", value, value.get("arguments"), call_id or ident
    elif isinstance(gemini, dict):
        shape, call, given, ident = "gemini", gemini, gemini.get("args"), gemini.get("id")
    elif isinstance(value.get("name"), str) and ("arguments" in value or "args" in value):
        shape, call, given = "plain", value, value.get("arguments", value.get("args"))
    else:
        return None
    parsed = ToolCall(_parse_name(call), _parse_arguments(given), str(ident or ""))
    return FormattedCall(parsed, shape)


def _parse_name(value: dict[str, object]) -> str:
    """Return a tool's name without the prefix of hosts (`mcp__memfs__`) or of models."""
    name = str(value.get("name") or "")
    for mark in (
        "mcp__memfs__",
        "mcp__plugin_memfs_memfs__",
        "mcp_memfs_",
        "memfs__",
        "functions.",
    ):
        name = name.removeprefix(mark)
    return name


def _parse_arguments(given: object) -> object:
    """Return arguments, parsed if they are JSON in a string, also twice; {} for None or ""."""
    for _ in range(2):
        if given is None or given == "":
            return {}
        if isinstance(given, str):
            with suppress(ValueError, RecursionError):
                given = json.loads(given)
    return given


def write(result: Result, shape: Shape) -> dict[str, object]:
    """Return a result in the shape of its call, with `is_error` and `heartbeat`."""
    call, text = result.call, result.text
    message: dict[str, object]
    match shape:
        case "anthropic":
            message = {"type": "tool_result", "tool_use_id": call.id, "content": text}
        case "openai":
            message = {"role": "tool", "tool_call_id": call.id, "content": text}
        case "responses":
            message = {"type": "function_call_output", "call_id": call.id, "output": text}
        case "gemini":
            key = "error" if result.is_error else "output"
            answer = {"name": call.name, "response": {key: text}}
            message = {"functionResponse": {**({"id": call.id} if call.id else {}), **answer}}
        case "plain":
            message = {"name": call.name, "result": text}
            if call.id:
                message["id"] = call.id
    if result.is_error:
        message["is_error"] = True
    if result.heartbeat:
        message["heartbeat"] = True
    return message
