"""OpenAI's chat completions: opencode and Copilot, with a provider of their user's."""

import json
from collections.abc import Iterator

from tests.hosts.script import OUTPUT_TOKENS, Json, Reply, Said, block_texts, fresh, named, objects


def serves(path: str) -> bool:
    return path == "/v1/chat/completions"


def streams(path: str, body: Json) -> bool:
    return bool(body.get("stream"))


def is_side_request(body: Json) -> bool:
    return not body.get("tools")


def said(request: Json) -> Iterator[Said]:
    for message in objects(request.get("messages")):
        role = str(message.get("role")).replace("developer", "system")
        for text in block_texts(message.get("content")):
            yield Said("user", text, result=True) if role == "tool" else Said(role, text)


def offered(request: Json) -> list[str]:
    return named([tool.get("function") for tool in objects(request.get("tools"))])


def whole(reply: Reply, body: Json) -> Json:
    message: Json = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = _calls(reply)
    choice = {"index": 0, "message": message, "finish_reason": _ending(reply)}
    return _body("chat.completion", body, choice) | {"usage": _usage(reply)}


def streamed(reply: Reply, body: Json) -> Iterator[str]:
    deltas: list[Json] = [{"role": "assistant", "content": reply.text}]
    deltas += [{"tool_calls": [call | {"index": n}]} for n, call in enumerate(_calls(reply))]
    frame = _body("chat.completion.chunk", body)
    for delta in deltas:
        yield _event(frame | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    ending = {"index": 0, "delta": {}, "finish_reason": _ending(reply)}
    yield _event(frame | {"choices": [ending]})
    yield _event(frame | {"choices": [], "usage": _usage(reply)})
    yield "data: [DONE]\n\n"


def _calls(reply: Reply) -> list[Json]:
    return [
        {
            "id": fresh("call"),
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(dict(call.input))},
        }
        for call in reply.calls
    ]


def _ending(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _usage(reply: Reply) -> Json:
    return {
        "prompt_tokens": reply.input_tokens,
        "completion_tokens": OUTPUT_TOKENS,
        "total_tokens": reply.input_tokens + OUTPUT_TOKENS,
    }


def _body(kind: str, body: Json, *choices: Json) -> Json:
    return {
        "id": fresh("chatcmpl"),
        "object": kind,
        "created": 1_777_000_000,
        "model": str(body.get("model", "")),
        "choices": list(choices),
    }


def _event(data: Json) -> str:
    return f"data: {json.dumps(data)}\n\n"
