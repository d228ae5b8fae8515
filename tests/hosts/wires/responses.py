"""OpenAI's responses: Codex."""

import json
from collections.abc import Iterator

from tests.hosts.script import (
    OUTPUT_TOKENS,
    Json,
    Reply,
    Said,
    ToolUse,
    block_texts,
    fresh,
    named,
    objects,
)


def serves(path: str) -> bool:
    return path == "/v1/responses"


def streams(path: str, body: Json) -> bool:
    return bool(body.get("stream"))


def is_side_request(body: Json) -> bool:
    return offered(body) in (
        [],
        ["session_title"],
    )  # the second is Grok's, for the name of a session


def said(request: Json) -> Iterator[Said]:
    given = request.get("input")
    if isinstance(given, str):
        yield Said("user", given)
    for item in objects(given):
        if item.get("type") == "function_call_output":
            for text in block_texts(item.get("output")):
                yield Said("user", text, result=True)
        elif "role" in item:
            role = str(item["role"]).replace("developer", "system")
            for text in block_texts(item.get("content")):
                yield Said(role, text)


def offered(request: Json) -> list[str]:
    """The tools' names; those of a namespace as ``<namespace>__<name>``."""
    return [name for tool in objects(request.get("tools")) for name in _names(tool)]


def whole(reply: Reply, body: Json) -> Json:
    text = {"type": "output_text", "text": reply.text, "annotations": []}
    output: list[Json] = []
    if reply.text:
        output.append(
            {
                "type": "message",
                "id": fresh("msg"),
                "role": "assistant",
                "status": "completed",
                "content": [text],
            }
        )
    output += [_call(call, body) for call in reply.calls]
    used = {
        "input_tokens": reply.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": OUTPUT_TOKENS,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.input_tokens + OUTPUT_TOKENS,
    }
    return {
        "id": fresh("resp"),
        "object": "response",
        "created_at": 1_777_000_000,
        "status": "completed",
        "model": str(body.get("model", "")),
        "output": output,
        "usage": used,
    }


def streamed(reply: Reply, body: Json) -> Iterator[str]:
    response = whole(reply, body)
    begun = response | {"status": "in_progress", "output": [], "usage": None}
    yield _event("response.created", response=begun)
    for index, item in enumerate(objects(response["output"])):
        yield from _item(index, item)
    yield _event("response.completed", response=response)


def _item(index: int, item: Json) -> Iterator[str]:
    at: Json = {"output_index": index, "item_id": item["id"]}
    if item["type"] == "message":
        [part] = objects(item["content"])
        yield _event(
            "response.output_item.added",
            output_index=index,
            item=item | {"status": "in_progress", "content": []},
        )
        at |= {"content_index": 0}
        yield _event("response.content_part.added", **at, part=part | {"text": ""})
        yield _event("response.output_text.delta", **at, delta=part["text"])
        yield _event("response.output_text.done", **at, text=part["text"])
        yield _event("response.content_part.done", **at, part=part)
    else:
        begun = item | {"status": "in_progress", "arguments": ""}
        yield _event("response.output_item.added", output_index=index, item=begun)
        given = item["arguments"]
        yield _event("response.function_call_arguments.delta", **at, delta=given)
        yield _event("response.function_call_arguments.done", **at, arguments=given)
    yield _event("response.output_item.done", output_index=index, item=item)


def _call(call: ToolUse, body: Json) -> Json:
    made: Json = {
        "type": "function_call",
        "id": fresh("fc"),
        "call_id": fresh("call"),
        "status": "completed",
        "name": call.name,
        "arguments": json.dumps(dict(call.input)),
    }
    for tool in objects(body.get("tools")):
        if tool.get("type") == "namespace" and call.name in _names(tool):
            space = str(tool["name"])
            made |= {"namespace": space, "name": call.name.removeprefix(f"{space}__")}
    return made


def _names(tool: Json) -> list[str]:
    if tool.get("type") == "namespace":
        return [f"{tool['name']}__{name}" for name in named(tool.get("tools"))]
    return named([tool])


def _event(kind: str, **data: object) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"
