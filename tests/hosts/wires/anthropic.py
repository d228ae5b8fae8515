"""Anthropic's messages: Claude Code, and others where they are told so."""

import json
from collections.abc import Iterator

from tests.hosts.script import OUTPUT_TOKENS, Json, Reply, Said, block_texts, fresh, named, objects


def serves(path: str) -> bool:
    return path == "/v1/messages"


def streams(path: str, body: Json) -> bool:
    return bool(body.get("stream"))


def is_side_request(body: Json) -> bool:
    """Whether Claude Code asks for itself and not for the conversation.

    Seen in 2.1.328: the title of an interactive session, when nonessential traffic is not switched
    off (a headless run makes none). It offers no tools, as does a conversation under `--tools ""`,
    and has no ``context_management``, which every conversation has. Compaction and subagents look
    like conversations and take their replies from the script.
    """
    return not body.get("tools") and "context_management" not in body


def said(request: Json) -> Iterator[Said]:
    for message in objects(request.get("messages")):
        role, content = str(message.get("role")), message.get("content")
        if isinstance(content, str):
            yield Said(role, content)
        for block in objects(content):
            if block.get("type") == "text":
                yield Said(role, str(block.get("text", "")))
            elif block.get("type") == "tool_result":
                for text in block_texts(block.get("content")):
                    yield Said(role, text, result=True)


def offered(request: Json) -> list[str]:
    return named(request.get("tools"))


def whole(reply: Reply, body: Json) -> Json:
    content: list[Json] = [{"type": "text", "text": reply.text}] if reply.text else []
    content += [
        {"type": "tool_use", "id": fresh("toolu"), "name": call.name, "input": dict(call.input)}
        for call in reply.calls
    ]
    return {
        "id": fresh("msg"),
        "type": "message",
        "role": "assistant",
        "model": str(body.get("model", "")),
        "content": content,
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": reply.input_tokens,
            "output_tokens": OUTPUT_TOKENS,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def streamed(reply: Reply, body: Json) -> Iterator[str]:
    message = whole(reply, body)
    yield _event("message_start", message=message | {"content": [], "stop_reason": None})
    for index, block in enumerate(objects(message["content"])):
        if block["type"] == "text":
            empty, delta = block | {"text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            arguments = json.dumps(block["input"])
            empty, delta = (
                block | {"input": {}},
                {"type": "input_json_delta", "partial_json": arguments},
            )
        yield _event("content_block_start", index=index, content_block=empty)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=ending, usage={"output_tokens": OUTPUT_TOKENS})
    yield _event("message_stop")


def _event(kind: str, **data: object) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"
